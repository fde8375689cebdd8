#!/bin/sh
# One database and one role for each program: none may connect to the database of another, make roles or databases, or be
# superuser. Runs as often as you like: what is there is kept, and passwords are set to those of the files.
#
# Needs psql, the address of a superuser in PGHOST, PGUSER …, its password in the file that RECOURSE_ADMIN_PASSWORD_FILE names
# unless the server asks for none and, below $RECOURSE_PASSWORDS (default /run/secrets), a file <program>.password for each
# program of the list.
set -eu

if [ -n "${RECOURSE_ADMIN_PASSWORD_FILE:-}" ]; then
  PGPASSWORD=$(cat "$RECOURSE_ADMIN_PASSWORD_FILE")
  export PGPASSWORD
fi

passwords=${RECOURSE_PASSWORDS:-/run/secrets}
programs=${RECOURSE_PROGRAMS:-contract-registry mutation-ledger recovery-orchestrator budget-accountant notifier keys}

for program in $programs; do
  name="recourse_$(printf '%s' "$program" | tr - _)"
  password=$(cat "$passwords/$program.password")
  [ -n "$password" ] || { echo "$passwords/$program.password is empty" >&2; exit 1; }
  # The password goes in by standard input: arguments and environments of processes can be seen by others.
  {
    printf '%s\n' "\\set password \`cat '$passwords/$program.password'\`"
    cat <<'SQL'
SELECT format('CREATE ROLE %I', :'name') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'name') \gexec
ALTER ROLE :"name" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 100 PASSWORD :'password';
SELECT format('CREATE DATABASE %I OWNER %I', :'name', :'name') WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'name') \gexec
REVOKE ALL ON DATABASE :"name" FROM PUBLIC;
\connect :name
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO :"name";
SQL
  } | psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --set name="$name" --dbname "${PGDATABASE:-postgres}"
  echo "$name is there"
done
