import { Readable } from 'node:stream'
import {
  AuditExportQuery,
  AuditLine,
  AuditLineQuery,
  AuditQuery,
  ChangeQuery,
  CredentialChange,
  CredentialUse,
  SecretRead,
} from '@steward/protocol/audit.ts'
import { timeComparisons } from '../../ground/database/page-order.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { findOrigins } from './acting.ts'
import { exportLines, shownLine } from './lines.ts'
import { auditStore, lineStore } from './store.ts'

const lines = section('Audit', ['admin'], '/v1/ext/audit')
const audit = section('Vaults', ['workspace'], '/v1/ext/audit')

const linesType = 'application/x-ndjson'

export const auditRoutes = (): Route[] => [
  lines.list(
    '',
    {
      summary: 'List the audit log: who changed what',
      description: 'The newest first. For owners and admins, and keys of admins.',
      query: AuditLineQuery,
      isQueryChecked: true,
      answer: AuditLine,
    },
    {
      scope: 'audit',
      rows: ({ db, tenant, query }, paging) => lineStore(db.read).list(tenant, query, paging),
      show: shownLine,
    },
  ),
  lines.get(
    '/export',
    {
      summary: 'Export an audit log as lines of JSON',
      description: 'In the order of the chain, each line with its hash and the hash before it.',
      query: AuditExportQuery,
      isQueryChecked: true,
      answer: 'bytes',
      mediaTypes: [linesType],
    },
    async ({ db, tenant, query: { trail = 'audit_lines', ...range } }) => ({
      reply: 'raw',
      status: 200,
      headers: [
        ['content-type', linesType],
        ['content-disposition', `attachment; filename="${trail}.jsonl"`],
      ],
      body: Readable.from(exportLines(db.read, tenant, { trail, ...utc(range) })),
    }),
  ),
  audit.list(
    '/credential_uses',
    {
      summary: 'List the calls that carried a credential',
      query: AuditQuery,
      isQueryChecked: true,
      answer: CredentialUse,
    },
    {
      scope: 'credential_uses',
      async rows({ db, tenant, query }, paging) {
        const moments = timeComparisons(query)
        const { rows, more } = await auditStore(db.read).uses(tenant, {
          filter: query,
          moments,
          paging,
        })
        const sessions = rows.map(({ session_id }) => session_id)
        const origins = await findOrigins(db.read, tenant, sessions)
        const unknown = { actor: null, on_behalf_of: null }
        const withOrigin = rows.map((row) => ({
          ...row,
          ...(origins.get(row.session_id) ?? unknown),
        }))
        return { rows: withOrigin, more }
      },
      show: ({ tenant_id: _, seq: _seq, hash: _hash, refreshed, session_id, ...use }) => ({
        type: 'credential_use',
        ...use,
        session_id: session_id === '' ? null : session_id,
        refreshed: refreshed === 1,
      }),
    },
  ),
  audit.list(
    '/secret_reads',
    {
      summary: 'List what was read from secret managers',
      description: 'For references of credentials. It holds no secret.',
      query: AuditQuery,
      isQueryChecked: true,
      answer: SecretRead,
    },
    {
      scope: 'secret_reads',
      rows: ({ db, tenant, query }, paging) =>
        auditStore(db.read).secretReads(tenant, {
          filter: query,
          moments: timeComparisons(query),
          paging,
        }),
      show: ({ tenant_id: _, seq: _seq, hash: _hash, ...read }) => ({
        type: 'secret_read',
        ...read,
      }),
    },
  ),
  audit.list(
    '/credential_changes',
    {
      summary:
        'List what became of vaults, credentials and the keys of model cards, and by which key',
      query: ChangeQuery,
      isQueryChecked: true,
      answer: CredentialChange,
    },
    {
      scope: 'credential_changes',
      rows: ({ db, tenant, query }, paging) =>
        auditStore(db.read).changes(tenant, {
          filter: query,
          moments: timeComparisons(query),
          paging,
        }),
      show: ({ tenant_id: _, seq: _seq, hash: _hash, ...change }) => ({
        type: 'credential_change',
        ...change,
      }),
    },
  ),
]

/** Times in the form of the rows: ISO 8601 in UTC. */
const utc = (range: { from?: string | undefined; to?: string | undefined }) => ({
  from: range.from && new Date(range.from).toISOString(),
  to: range.to && new Date(range.to).toISOString(),
})
