#!/bin/sh
# One database and one role for each program: none may connect to the database of another, make roles or databases, or be
# superuser. Runs as often as you like: what is there is kept, and passwords are set to those of the files.
#
# A database is marked, in its comment, as that of the log RECOURSE_LOG_ID: one of another log is refused with its role, before
# either is touched. A second installation on the same server has a RECOURSE_DATABASE_PREFIX of its own (default recourse).
# A role has RECOURSE_CONNECTIONS_MAX connections at the most (default 100).
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
prefix=${RECOURSE_DATABASE_PREFIX:-recourse}
connections=${RECOURSE_CONNECTIONS_MAX:-100}
[ -n "${RECOURSE_LOG_ID:-}" ] || { echo "set RECOURSE_LOG_ID: databases are marked as those of a log" >&2; exit 2; }

for program in $programs; do
  name="${prefix}_$(printf '%s' "$program" | tr - _)"
  password=$(cat "$passwords/$program.password")
  [ -n "$password" ] || { echo "$passwords/$program.password is empty" >&2; exit 1; }
  # The password goes in by standard input: arguments and environments of processes can be seen by others.
  {
    printf '%s\n' "\\set password \`cat '$passwords/$program.password'\`"
    cat <<'SQL'
SELECT format('DO %L', format('BEGIN RAISE EXCEPTION USING MESSAGE = %L; END',
    format('database %s is that of another log (%s): name a RECOURSE_DATABASE_PREFIX of your own', datname, marked)))
  FROM (SELECT datname, shobj_description(oid, 'pg_database') AS marked FROM pg_database WHERE datname = :'name') AS found
  WHERE marked LIKE 'recourse log %' AND marked <> :'mark' \gexec
SELECT format('CREATE ROLE %I', :'name') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'name') \gexec
ALTER ROLE :"name" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS CONNECTION LIMIT :connections PASSWORD :'password';
SELECT format('CREATE DATABASE %I OWNER %I', :'name', :'name') WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'name') \gexec
COMMENT ON DATABASE :"name" IS :'mark';
REVOKE ALL ON DATABASE :"name" FROM PUBLIC;
\connect :name
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO :"name";
SQL
  } | psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --set name="$name" --set connections="$connections" \
    --set mark="recourse log $RECOURSE_LOG_ID" --dbname "${PGDATABASE:-postgres}"
  echo "$name is there"
done
