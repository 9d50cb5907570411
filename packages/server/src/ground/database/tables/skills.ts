import { json, long, nullable, number, table, text } from '../table.ts'

export const skillTables = {
  skills: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'skill',
    columns: {
      tenant_id: text(),
      id: text(),
      name: text(),
      display_title: nullable(long(text())),
      /** The description of the latest version. */
      description: long(text()),
      /** The number of the latest version, as digits. Null once all versions are deleted. */
      latest_version: nullable(text()),
      /** The highest number that was ever used. Numbers are not used again. */
      newest_version: text(),
      created_at: text(),
      updated_at: text(),
    },
  }),
  skill_versions: table({
    rows: 'tenant',
    key: ['tenant_id', 'skill_id', 'id'],
    noun: 'skill version',
    columns: {
      tenant_id: text(),
      skill_id: text(),
      /** `skver_` and a fixed count of digits. */
      id: text(),
      name: text(),
      description: long(text()),
      directory: text(),
      size_bytes: number(),
      sha256: text(),
      /** The blob of the version's archive. */
      blob_key: text(),
      created_at: text(),
      /** Paths of the version's files, relative to its folder. */
      files: long(json<string[]>()),
    },
  }),
}
