#!/bin/sh
# Makes the secrets of an installation on one host below ./secrets, a folder for each program, and keeps those that are there.
# Each file is open to its owner and the group of the program's user, and to nobody else: a program refuses it otherwise.
#
# Needs openssl. keyring/keyring.json says who is believed on wires and logs: the services, to begin with. Add your producers,
# workers and consumers there (docs/guides/keys.md); it is read again when it changes.
#
# Run as root, so that the files can be given to the users of the images; without it they keep yours (chown them later).
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
into=${1:-$here/secrets}
umask 027

random() { od -An -v -N32 -tx1 /dev/urandom | tr -d ' \n'; }
make() { [ -s "$1" ] || random >"$1"; }
give() { if [ "$(id -u)" = 0 ]; then chown -R "$1" "$2"; fi; }

mkdir -p "$into/postgres"
make "$into/postgres/admin.password"
for program in contract-registry mutation-ledger recovery-orchestrator budget-accountant notifier keys; do
  make "$into/postgres/$program.password"
done

for program in contract-registry mutation-ledger recovery-orchestrator budget-accountant notifier; do
  mkdir -p "$into/$program"
  cp -f "$into/postgres/$program.password" "$into/$program/database.password"
  if [ "$program" = notifier ]; then
    [ -s "$into/notifier/webhooks.json" ] || printf '{ "endpoints": [] }\n' >"$into/notifier/webhooks.json"
  else
    cp -f "$into/postgres/keys.password" "$into/$program/key-store.password"
    make "$into/$program/edge.key"
    [ -s "$into/$program/signing.key" ] || openssl genpkey -algorithm ed25519 -out "$into/$program/signing.key"
  fi
  case $program in mutation-ledger | recovery-orchestrator) make "$into/$program/lease.key" ;; esac
  chmod 0440 "$into/$program"/*
  give 10001:10001 "$into/$program"
done

# Keys of heads: the auditor's and the witness's, and what each is told of the other. A verifier key is
# <name>+<first 4 octets of SHA-256(name LF algorithm key), hex>+<base64(algorithm key)>, algorithm 1 of a log, 4 of a witness.
raw() { openssl pkey -in "$1" -pubout -outform DER | tail -c 32; }
verifier() {
  id=$({ printf '%s\n%b' "$1" "$2"; raw "$3"; } | openssl dgst -sha256 -binary | head -c 4 | od -An -v -tx1 | tr -d ' \n')
  printf '%s+%s+%s' "$1" "$id" "$({ printf '%b' "$2"; raw "$3"; } | base64 | tr -d '\n')"
}
mkdir -p "$into/auditor" "$into/witness"
for key in auditor/signing.key auditor/auditor.key witness/witness.key; do
  [ -s "$into/$key" ] || openssl genpkey -algorithm ed25519 -out "$into/$key"
done
rm -f "$into"/*.vkey "$into"/*.env
verifier recourse-auditor '\0001' "$into/auditor/auditor.key" >"$into/auditor.vkey"
verifier recourse-witness '\0004' "$into/witness/witness.key" >"$into/witness.vkey"
printf 'RECOURSE_AUDITOR_WITNESSES=%s=http://witness:8080\n' "$(cat "$into/witness.vkey")" >"$into/auditor.env"
printf 'RECOURSE_WITNESS_AUDITORS=%s\n' "$(cat "$into/auditor.vkey")" >"$into/witness.env"
# Nothing of these is secret: the verifier key of the auditor is for whoever checks the logs.
chmod 0444 "$into"/*.vkey "$into"/*.env
for program in auditor witness; do
  chmod 0440 "$into/$program"/*
  give 10001:10001 "$into/$program"
done

mkdir -p "$into/keyring"
keyring=$into/keyring/keyring.json
if [ ! -s "$keyring" ]; then
  {
    printf '{ "keys": [\n'
    between=''
    for program in contract-registry mutation-ledger recovery-orchestrator budget-accountant auditor; do
      public=$(raw "$into/$program/signing.key" | base64)
      printf '%s  { "id": "%s", "public_key": "%s", "speaks_as": "service", "names": ["%s"], "tenants": ["*"] }' \
        "$between" "$program" "$public" "$program"
      between=$(printf ',\n.')
      between=${between%.}
    done
    printf '\n] }\n'
  } >"$keyring"
fi
chmod 0755 "$into/keyring"
chmod 0444 "$keyring"

chmod 0440 "$into/postgres"/*
give 999:999 "$into/postgres"
# The console's secret at the issuer is the issuer's to give: as client.secret, open to its owner and group alone.
mkdir -p "$into/console"
give 10001:10001 "$into/console"
# Whoever starts Compose reads the *.env here; what is secret lies in folders that are each closed by themselves.
chmod 0755 "$into"

echo "secrets are in $into"
