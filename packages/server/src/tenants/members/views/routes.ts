/** What a person keeps for the pages of a workspace: views of lists, and when the person has last looked. */
import { iso } from '@steward/base/time.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import { Looked, ViewCreate, ViewShown } from '@steward/protocol/saved-views.ts'
import { forbidden, invalid } from '../../../ground/core/errors.ts'
import { wholePage } from '../../../ground/core/text/page.ts'
import type { Principal } from '../../../ground/http/principal.ts'
import { personIdOf } from '../../../ground/http/principal.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { Ground } from '../../../ground/ground.ts'
import { memberStore } from '../../people/members/store.ts'
import { keysOwner, viewStore } from './store.ts'

const views = section('Members', ['workspace'], '/v1/ext/views')
const looking = section('Members', ['user'], '/v1/ext/me/looked')

const ownerOf = (principal: Principal): string => personIdOf(principal) ?? keysOwner

/** Whose views are changed. The keys of a workspace share theirs, so that a key that only reads changes none. */
function writerOf(principal: Principal): string {
  if (principal.kind === 'workspace' && principal.readOnly)
    throw forbidden('this key is read-only: it changes nothing', 'read_only')
  return ownerOf(principal)
}

export function viewRoutes(deps: Ground): Route[] {
  const { clock } = deps
  const { control } = deps.databases
  return [
    views.get(
      '',
      {
        summary: 'List saved views',
        description: 'Those of the person who asks. The keys of a workspace have their own.',
        answer: ListOf(ViewShown),
      },
      async ({ tenant, principal }) => {
        const all = await viewStore(control.read).list(tenant, ownerOf(principal))
        return wholePage(
          all,
          all.map(({ id }) => id),
        )
      },
    ),
    views.post(
      '',
      {
        summary: 'Save a view',
        description: 'At most 50 for each person. Whoever may read may save views.',
        body: ViewCreate,
        changesNothing: true,
        answer: ViewShown,
      },
      ({ tenant, principal, body }) =>
        control.write((tx) => viewStore(tx).put(tenant, writerOf(principal), body, clock.now())),
    ),
    views.remove(
      '/:id',
      {
        summary: 'Delete a saved view',
        description: 'Of the person who asks, or of the keys.',
        type: 'view_deleted',
        changesNothing: true,
      },
      ({ tenant, principal, params }) =>
        control.write((tx) => viewStore(tx).remove(tenant, writerOf(principal), params.id)),
    ),
    looking.post(
      '',
      {
        summary: 'Note that the person has looked at the workspace',
        description: 'From now on the overview counts what has failed since then.',
        changesNothing: true,
        answer: Looked,
      },
      async ({ tenant, principal }) => {
        if (principal.kind !== 'user' || tenant === '')
          throw invalid('anthropic-workspace-id: name the workspace that you look at')
        const now = clock.now()
        const before = await control.write((tx) =>
          memberStore(tx).looked(tenant, principal.userId, now),
        )
        return {
          type: 'looked',
          last_looked_at: iso(now),
          before: before === null ? null : iso(before),
        }
      },
    ),
  ]
}
