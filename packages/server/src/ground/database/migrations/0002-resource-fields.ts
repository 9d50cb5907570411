import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { dialectOf } from '../dialect.ts'

const fieldsOf = (object: string, json: (column: string) => string): string => `case type
  when 'file' then ${object}('file_id', file_id)
  when 'github_repository' then ${object}('url', url, 'checkout', ${json('checkout')})
  else ${object}('memory_store_id', memory_store_id, 'instructions', instructions, 'access', access,
    'name', name, 'description', description) end`

const fields = {
  sqlite: fieldsOf('json_object', (column) => `json(${column})`),
  postgres: `(${fieldsOf('json_build_object', (column) => `cast(${column} as json)`)})::text`,
}

const ofOneType = [
  ...['file_id', 'url', 'checkout'],
  ...['memory_store_id', 'access', 'name', 'description', 'instructions'],
]

/** The fields of a resource's type are one column of JSON, in place of the columns of every type. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table session_resources add column fields text not null default '{}'`,
    'alter table session_resources add column refers_to text',
    `update session_resources set fields = ${fields[dialectOf(db)]},
      refers_to = coalesce(file_id, memory_store_id)`,
    'alter table session_resources rename column cloned_at to mounted_at',
    'drop index session_resources_by_store',
    'create index session_resources_by_reference on session_resources (tenant_id, refers_to)',
    ...ofOneType.map((column) => `alter table session_resources drop column ${column}`),
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
