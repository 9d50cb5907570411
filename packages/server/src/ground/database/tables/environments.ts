import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import { long, nullable, number, record, table, text } from '../table.ts'

export const environmentTables = {
  environments: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'environment',
    columns: {
      tenant_id: text(),
      id: text(),
      name: text(),
      record: long(record<EnvironmentRecord>()),
      /** Least milliseconds for which a claimed item stays reserved, whatever a poll requests. */
      reclaim_ms: number(),
      archived_at: nullable(text()),
      created_at: text(),
      updated_at: text(),
    },
  }),
  /** Leases for the build of a layer of installs. */
  package_builds: table({
    rows: 'tenant',
    key: ['tenant_id', 'layer'],
    lease: { owner: 'owner', expires: 'expires_at', isWholeRow: true },
    columns: {
      tenant_id: text(),
      layer: text(),
      owner: text(),
      expires_at: number(),
    },
  }),
}
