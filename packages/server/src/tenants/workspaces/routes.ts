import {
  OrganizationShown,
  WorkspaceCreate,
  WorkspaceDeleteQuery,
  WorkspaceList,
  WorkspaceListQuery,
  WorkspaceShown,
  WorkspaceUpdate,
} from '@steward/protocol/organization.ts'
import { conflict, forbidden, invalid, notFound } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { besideIn, readIdSide, pageById } from '../../ground/core/text/page.ts'
import type { Principal } from '../../ground/http/principal.ts'
import type { Role } from '../../ground/core/security/roles.ts'
import { roleOf } from '../../ground/http/principal.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import { notifyOfKey } from '../api-keys/authenticate.ts'
import { apiKeyStore } from '../api-keys/store.ts'
import { notifyOfPeople } from '../people/authenticate.ts'
import { memberStore } from '../people/members/store.ts'
import { peopleStore } from '../people/store.ts'
import { deleteByOwner } from './delete.ts'
import type { WorkspaceRow } from './store.ts'
import { workspaceStore } from './store.ts'

const organization = section('Organisation', ['workspace'], '/v1/organizations/me')
const workspaces = section('Organisation', ['workspace', 'user'], '/v1/organizations/workspaces')

export function workspaceRoutes(
  deps: Ground & {
    /** The setting; left out: the id of the caller's workspace. */
    organizationId: string | undefined
  },
): Route[] {
  const { databases, clock, organizationId } = deps
  const { control } = databases
  const read = () => workspaceStore(control.read)

  /** The caller's roles by workspace id. */
  async function rolesOf(principal: Principal): Promise<Map<string, Role>> {
    if (principal.kind === 'user') return peopleStore(control.read).rolesOf(principal.userId)
    const role = roleOf(principal)
    return new Map(role ? [[principal.tenant, role]] : [])
  }

  /** Throws unless the caller belongs to the workspace and has one of the roles. */
  async function checkRole(principal: Principal, id: string, ...needed: Role[]): Promise<void> {
    const role = (await rolesOf(principal)).get(id)
    if (!role) throw notFound('workspace', id)
    if (needed.length > 0 && !needed.includes(role))
      throw forbidden(`this needs the role ${needed.join(' or ')} in the workspace`)
  }

  async function get(id: string): Promise<WorkspaceShown> {
    const [row] = await read().some([id])
    if (!row) throw notFound('workspace', id)
    return shownWorkspace(row)
  }

  return [
    organization.get(
      '',
      { summary: 'Get the organisation', answer: OrganizationShown },
      async ({ tenant }) => ({
        id: organizationId ?? tenant,
        type: 'organization',
        name: (await get(tenant)).name,
      }),
    ),
    workspaces.get(
      '',
      { summary: 'List workspaces', query: WorkspaceListQuery, answer: WorkspaceList },
      async ({ principal, query }) => {
        const rows = await read().some([...(await rolesOf(principal)).keys()])
        const from = readIdSide(query)
        if (from && !rows.some(({ id }) => id === from.id))
          throw invalid(`${from.side}_id: is no workspace of the caller`)
        const shown = besideIn(rows, from)
          .filter(({ id }) => query.ids === undefined || query.ids.includes(id))
          .filter((row) => query.include_archived === true || row.archived_at === null)
          .map(shownWorkspace)
        return pageById(shown, query.limit ?? shown.length, from)
      },
    ),
    workspaces.post(
      '',
      {
        callers: ['user'],
        summary: 'Create a workspace',
        description: 'For the first owner of the deployment, who owns the workspace then.',
        body: WorkspaceCreate,
        answer: WorkspaceShown,
      },
      async ({ principal, body }) => {
        if (
          principal.kind !== 'user' ||
          !(await peopleStore(control.read).isOperator(principal.userId))
        )
          throw forbidden(
            'only the first owner of the deployment, and an operator by command, make workspaces',
          )
        const id = newId('workspace')
        await control.write(async (tx) => {
          await workspaceStore(tx).create(id, body.name, clock.now())
          await memberStore(tx).add(id, principal.userId, 'owner', clock.now())
          notifyOfPeople(tx)
        })
        return get(id)
      },
    ),
    workspaces.get(
      '/:id',
      { summary: 'Get a workspace', answer: WorkspaceShown },
      async ({ principal, params }) => {
        await checkRole(principal, params.id)
        return get(params.id)
      },
    ),
    workspaces.post(
      '/:id',
      {
        callers: ['admin', 'user'],
        summary: 'Rename a workspace',
        description: 'For its admins and owners.',
        body: WorkspaceUpdate,
        answer: WorkspaceShown,
      },
      async ({ principal, params, body }) => {
        await checkRole(principal, params.id, 'admin', 'owner')
        const { name } = body
        if (name !== undefined)
          await control.write(async (tx) => {
            await workspaceStore(tx).rename(params.id, name)
            notifyOfPeople(tx)
          })
        return get(params.id)
      },
    ),
    workspaces.post(
      '/:id/archive',
      {
        callers: ['user'],
        summary: 'Archive a workspace',
        description:
          'For an owner. All keys of the workspace are revoked, and its members reach it no more. Turns that run come to their end.',
        answer: WorkspaceShown,
      },
      async ({ principal, params }) => {
        await checkRole(principal, params.id, 'owner')
        const now = clock.now()
        await control.write(async (tx) => {
          if (!(await workspaceStore(tx).archive(params.id, now)))
            throw conflict('the workspace is archived already')
          for (const key of await apiKeyStore(tx).revokeAll(params.id, now)) notifyOfKey(tx, key)
          notifyOfPeople(tx)
        })
        return get(params.id)
      },
    ),
    workspaces.remove(
      '/:id',
      {
        callers: ['user'],
        summary: 'Delete a workspace',
        isExtension: true,
        description:
          'For an owner, once the workspace is archived. Everything of the workspace is removed soon after: nobody can bring it back.',
        query: WorkspaceDeleteQuery,
        type: 'workspace_deleted',
      },
      async ({ principal, params, query }) => {
        await checkRole(principal, params.id, 'owner')
        await deleteByOwner(deps, { id: params.id, confirm: query.confirm })
      },
    ),
  ]
}

/** Fields that this service does not use have the values that the official client expects. */
const shownWorkspace = ({ id, name, archived_at, created_at }: WorkspaceRow): WorkspaceShown => ({
  id,
  type: 'workspace',
  name,
  display_color: '#6C5BB9',
  tags: {},
  archived_at,
  created_at,
  data_residency: {
    allowed_inference_geos: 'unrestricted',
    default_inference_geo: 'global',
    workspace_geo: 'us',
  },
  compartment_id: id,
  external_key_id: null,
  user_profile_id: null,
})
