// What the tables of the mutations log hold after a round of ingest.
import { Client } from 'pg';

/** What one table holds; the hash is over all columns of all rows. */
interface Content {
  readonly rows: number;
  readonly distinct: number;
  readonly hash: string;
}
export type Contents = Readonly<Record<string, Content>>;

/** By table. */
export async function contentsOf(
  url: string,
  { tables }: { readonly tables: Readonly<Record<string, number>> },
): Promise<Contents> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const contents: Record<string, Content> = {};
  for (const table of Object.keys(tables)) {
    const { rows } = await client.query<{ readonly n: string; readonly d: string; readonly hash: string }>(
      `SELECT count(*) AS n, count(DISTINCT (group_key, row_key)) AS d, sum(hash_record_extended(t, 0)::numeric) AS hash FROM "mutations"."${table}" t`,
    );
    contents[table] = { rows: Number(rows[0]?.n), distinct: Number(rows[0]?.d), hash: String(rows[0]?.hash) };
  }
  await client.end();
  return contents;
}
