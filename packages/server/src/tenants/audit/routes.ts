import {
  AuditQuery,
  ChangeQuery,
  CredentialChange,
  CredentialUse,
} from '@steward/protocol/audit.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import { pageOf, paging } from '../../ground/core/page.ts'
import { moments } from '../../ground/database/seek.ts'
import type { Route } from '../../ground/http/route.ts'
import { route } from '../../ground/http/route.ts'
import { auditStore } from './store.ts'

const callers = ['workspace'] as const
const section = 'Vaults'

export const auditRoutes = (): Route[] => [
  route(
    {
      method: 'get',
      path: '/v1/ext/audit/credential_uses',
      callers,
      section,
      summary: 'List the calls that carried a credential',
      query: AuditQuery,
      answer: ListOf(CredentialUse),
    },
    async ({ db, tenant, query }) => {
      const page = paging('credential_uses', query)
      const asked = { filter: query, moments: moments(query), paging: page }
      const rows = await auditStore(db.read).uses(tenant, asked)
      return pageOf('credential_uses', page, rows, ({ tenant_id: _, refreshed, ...use }) => ({
        type: 'credential_use',
        ...use,
        refreshed: refreshed === 1,
      }))
    },
  ),
  route(
    {
      method: 'get',
      path: '/v1/ext/audit/credential_changes',
      callers,
      section,
      summary:
        'List what became of vaults, credentials and the keys of model cards, and by which key',
      query: ChangeQuery,
      answer: ListOf(CredentialChange),
    },
    async ({ db, tenant, query }) => {
      const page = paging('credential_changes', query)
      const asked = { filter: query, moments: moments(query), paging: page }
      const rows = await auditStore(db.read).changes(tenant, asked)
      return pageOf('credential_changes', page, rows, ({ tenant_id: _, ...change }) => ({
        type: 'credential_change',
        ...change,
      }))
    },
  ),
]
