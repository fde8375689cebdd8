"""Unpacks the schemas of some Kubernetes versions: unpack_schemas.py ARCHIVE FOLDER VERSION...

They name themselves by addresses on the web and refer to each other by these; here they refer to the file beside them.
"""

import json
import pathlib
import sys
import zipfile

INSIDE = "kubernetes_validate/kubernetes-json-schema"


def main(archive: str, folder: str, versions: list[str]) -> None:
    with zipfile.ZipFile(archive) as files:
        for version in versions:
            into = pathlib.Path(folder, version)
            into.mkdir(parents=True)
            for name in files.namelist():
                if name.startswith(f"{INSIDE}/v{version}-local-strict/"):
                    text = files.read(name).decode().replace('"/api/_definitions.json#', '"_definitions.json#')
                    schema = json.loads(text)
                    schema.pop("$id", None)
                    pathlib.Path(into, pathlib.Path(name).name).write_text(json.dumps(schema))


main(sys.argv[1], sys.argv[2], sys.argv[3:])
