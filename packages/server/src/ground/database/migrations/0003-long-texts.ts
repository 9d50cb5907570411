import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { dialectOf } from '../dialect.ts'

const inOrder = { sqlite: ' without rowid', postgres: '' }

export async function up(db: Kysely<unknown>): Promise<void> {
  const schema = [
    `create table long_texts (
      tenant_id text not null, session_id text not null, event_id text not null, bytes bigint not null,
      state text not null, created_at text not null,
      constraint long_texts_key primary key (session_id, event_id))${inOrder[dialectOf(db)]}`,
    "create index long_texts_left on long_texts (created_at) where state <> 'owned'",
    // A row of a megabyte would make each page of an ordered table hold one key.
    `create table long_text_pieces (
      tenant_id text not null, session_id text not null, event_id text not null, piece integer not null,
      text text not null, constraint long_text_pieces_key primary key (session_id, event_id, piece))`,
  ]
  for (const statement of schema) await sql.raw(statement).execute(db)
}
