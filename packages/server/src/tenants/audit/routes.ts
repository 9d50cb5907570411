import {
  AuditQuery,
  ChangeQuery,
  CredentialChange,
  CredentialUse,
} from '@steward/protocol/audit.ts'
import { moments } from '../../ground/database/seek.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { auditStore } from './store.ts'

const audit = section('Vaults', ['workspace'], '/v1/ext/audit')

export const auditRoutes = (): Route[] => [
  audit.list(
    '/credential_uses',
    {
      summary: 'List the calls that carried a credential',
      query: AuditQuery,
      answer: CredentialUse,
    },
    {
      scope: 'credential_uses',
      rows: ({ db, tenant, query }, paging) =>
        auditStore(db.read).uses(tenant, { filter: query, moments: moments(query), paging }),
      show: ({ tenant_id: _, refreshed, ...use }) => ({
        type: 'credential_use',
        ...use,
        refreshed: refreshed === 1,
      }),
    },
  ),
  audit.list(
    '/credential_changes',
    {
      summary:
        'List what became of vaults, credentials and the keys of model cards, and by which key',
      query: ChangeQuery,
      answer: CredentialChange,
    },
    {
      scope: 'credential_changes',
      rows: ({ db, tenant, query }, paging) =>
        auditStore(db.read).changes(tenant, { filter: query, moments: moments(query), paging }),
      show: ({ tenant_id: _, ...change }) => ({ type: 'credential_change', ...change }),
    },
  ),
]
