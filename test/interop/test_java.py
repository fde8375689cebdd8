"""The producer in Java before it sends: what has another type than its field is refused, as the producer in Python refuses it."""

import http.server
import json
import os
import re
import subprocess
import threading

import pytest

from test_examples import WRONG, executed_in_json, released

JAVA = json.loads(os.environ.get("RECOURSE_TEST_JAVA") or "null")

pytestmark = pytest.mark.skipif(JAVA is None, reason="no producer in Java is named in RECOURSE_TEST_JAVA")


@pytest.fixture(scope="module")
def registry():
    """A registry of one schema."""
    answer = json.dumps({"id": 7, "schema": json.dumps(released("recourse.executions.ToolExecuted"))}).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def publish(registry, text):
    """Nobody listens at the broker: what is sound is not refused before it is to be sent."""
    command = [*JAVA, "--brokers", "127.0.0.1:1", "--registry", registry, "ToolExecuted", text]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("edit,problem", WRONG, ids=str)
def test_the_producer_in_java_refuses_what_has_another_type_than_its_field(registry, edit, problem):
    done = publish(registry, json.dumps(executed_in_json(**edit)))
    assert (done.returncode, done.stdout) == (1, "")
    assert re.search(problem, done.stderr) and len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.parametrize("text", ["[]", '"x"', "{} {}", '{"args": {"json": 1e400}}', "nonsense"])
def test_the_producer_in_java_says_in_a_line_what_is_no_record(registry, text):
    body = json.dumps(executed_in_json()).replace('"args": {"json": {}}', '"args": {"json": 1e400}') if "1e400" in text else text
    done = publish(registry, body)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("ToolExecuted: ") and "\tat " not in done.stderr
