/**
 * The repository of a thread in the sandbox of its session, with an app's token for this repository alone. On a pull
 * request it is the head. Attack: the head of a fork is a stranger's code, and the agent may run it, so such a session
 * gets no credentials.
 */
import type { PublicationSpec } from '@steward/protocol/integrations.ts'
import type { RepositoryResource } from '@steward/protocol/session-resources.ts'
import { invalid } from '../../../ground/core/errors.ts'
import type { PullRequestHead } from '../code.ts'
import type { HostedRepository } from '../hosted-repository.ts'
import { hostedRepositoryOf, pullRequestPolicyOf } from '../hosted-repository.ts'
import type { TokenDeps } from '../installations/token.ts'
import type { Queries } from '../../../ground/database/database.ts'
import { rotateToken } from '../../../sessions/resources/repositories.ts'
import { ofType, resourceStore } from '../../../sessions/rows/resources.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import { tokenFor } from '../installations/app-access.ts'
import { getApp } from '../installations/apps.ts'
import type { Notes } from '../integration.ts'
import type { GatherDeps } from './gather.ts'
import { openSource } from './gather.ts'
import type { ExternalThreadRow, PublicationRow } from '../store.ts'
import type { JobContext } from '../job-context.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'
import { rows } from '../../../ground/database/rows.ts'

/** The session's token is renewed this long before `expiresMs`. */
const marginMs = 5 * 60_000

/**
 * What a new session of a thread works on. `token_due_ms`: the time from which it needs a new token. `readsOnly`: it is
 * about a pull request of a fork, and gets no credential with which anything is written. `note`: what the agent is told
 * of this.
 */
export type CheckoutPlan = {
  resource?: RepositoryResource
  token_due_ms: number | null
  readsOnly: boolean
  note?: string
}

/** The repository that sessions of a thread have. */
const checkedOutRepository = (
  publication: PublicationRow,
  target: Notes,
): HostedRepository | undefined => {
  const { code, github } = publication.spec
  return code || github?.checkout ? hostedRepositoryOf(publication, target) : undefined
}

/** Whether the publication lets its agent write code. */
const mayWriteBy = (spec: PublicationSpec): boolean =>
  pullRequestPolicyOf(spec) !== undefined || (!spec.code && (spec.app_access ?? false))

/**
 * Throws when the provider gives no token, when it does not say what the pull request consists of, and when the
 * publication refuses forks.
 */
export async function planCheckout(
  deps: GatherDeps,
  context: JobContext,
  publication: PublicationRow,
  target: Notes,
): Promise<CheckoutPlan> {
  const hosted = checkedOutRepository(publication, target)
  const repository = hosted?.repository
  const { forks = 'read_only' } = publication.spec.github ?? {}
  const isAsked = target['pull'] === 1 && dependsOnHead(publication, { repository, forks })
  const head = isAsked ? await headOf(deps, context, publication, target) : undefined
  if (head?.isOfFork && forks === 'refuse')
    throw invalid('This pull request comes from a fork, and this agent does not work on those.')
  const readsOnly = head?.isOfFork === true && forks !== 'trust'
  const plan = { readsOnly, ...(head && { note: noteAbout(head, { repository, readsOnly }) }) }
  if (!hosted) return { ...plan, token_due_ms: null }
  const wanted = { hosted, readsOnly }
  const { resource, token_due_ms } = await checkOut(deps, context, publication, wanted)
  return { ...plan, token_due_ms, resource: { ...resource, ...(head && checkoutOf(head)) } }
}

/** Whether the session is another one for a pull request of a fork. */
function dependsOnHead(
  { spec, vault_id }: PublicationRow,
  {
    repository,
    forks,
  }: { repository: string | undefined; forks: 'read_only' | 'refuse' | 'trust' },
): boolean {
  if (repository !== undefined || forks === 'refuse') return true
  return forks === 'read_only' && hasRights({ spec, vault_id })
}

/** Whether sessions of the publication have a credential that those of forks lack. */
export const hasRights = ({ spec, vault_id }: Pick<PublicationRow, 'spec' | 'vault_id'>): boolean =>
  mayWriteBy(spec) || vault_id !== null || spec.vault_ids.length > 0

export async function headOf(
  deps: GatherDeps,
  context: JobContext,
  publication: PublicationRow,
  target: Notes,
): Promise<PullRequestHead | undefined> {
  const app = getApp(deps.apps, publication.integration)
  if (!app.headOf) return undefined
  const found = await openSource(deps, context, publication, { app, since: null })
  if ('problem' in found) throw invalid(`${publication.integration}: ${found.problem}`)
  const head = await app.headOf(found.source, target)
  if (head) return head
  const [later] = found.waits
  if (later !== undefined) throw new Error(later)
  throw invalid(`${publication.integration}: ${found.missing.join('; ')}`)
}

/** A branch that is not there any more, or that lies in a fork, is reached by its commit alone. */
const checkoutOf = ({ branch, commit, isOpen, isOfFork }: PullRequestHead) => ({
  checkout:
    isOpen && !isOfFork
      ? ({ type: 'branch', name: branch } as const)
      : ({ type: 'commit', sha: commit } as const),
})

/** Names of branches are left out: whoever makes the pull request chooses them. */
function noteAbout(
  { isOpen, isOfFork }: PullRequestHead,
  { repository, readsOnly }: { repository: string | undefined; readsOnly: boolean },
): string {
  const place = isOpen && !isOfFork ? 'head branch' : 'newest commit'
  return [
    ...(repository === undefined
      ? []
      : [`The repository is checked out at the ${place} of this pull request.`]),
    ...(isOpen ? [] : ['This pull request is closed.']),
    ...(isOfFork
      ? [
          'It comes from a fork: its code is by somebody who cannot write to this repository. You cannot push to the fork.',
        ]
      : []),
    ...(readsOnly ? ['You have no credentials in this session, and can push nothing.'] : []),
  ].join(' ')
}

type CheckedOut = { resource: RepositoryResource; token_due_ms: number | null }

async function checkOut(
  deps: TokenDeps,
  context: JobContext,
  publication: PublicationRow,
  { hosted, readsOnly }: { hosted: HostedRepository; readsOnly: boolean },
): Promise<CheckedOut> {
  const { repository } = hosted
  const { spec } = publication
  const mayWrite = !readsOnly && mayWriteBy(spec)
  const found = await tokenFor(deps, context, { ...hosted, spec }, { repository, mayWrite })
  const { url } = getApp(deps.apps, hosted.integration)
  return {
    resource: {
      type: 'github_repository',
      url: `${url}/${repository}`,
      authorization_token: found.token,
    },
    token_due_ms: found.expiresMs === undefined ? null : found.expiresMs - marginMs,
  }
}

/** Gives the session a new token when its token is about to end. An archived session keeps its token. */
export async function renewCheckout(
  deps: TokenDeps,
  context: JobContext,
  { id, session_id, token_due_ms, target, publication_id, reads_only }: ExternalThreadRow,
): Promise<void> {
  if (session_id === null || token_due_ms === null || token_due_ms > deps.clock.now()) return
  const { db, tenant } = context
  const publication = await rows(db.read, 'publications').get(tenant, publication_id)
  const hosted = checkedOutRepository(publication, target)
  if (!hosted) return
  const renewed = await checkOut(deps, context, publication, {
    hosted,
    readsOnly: reads_only === 1,
  })
  await db.write(async (tx) => {
    // The session is locked before the thread, in the same order as by code that posts into a session.
    await rotate(deps, tx, { tenant, session: session_id }, renewed.resource)
    const kept = await rows(tx, 'integration_threads').findForUpdate(tenant, id)
    if (kept?.session_id !== session_id) return
    await rows(tx, 'integration_threads').update(kept, { token_due_ms: renewed.token_due_ms })
  })
}

/** Replaces the token of the repository. A repository that people have removed from the session is not added again. */
async function rotate(
  { clock, seal }: TokenDeps,
  tx: Queries,
  { tenant, session }: SessionRef,
  { url, authorization_token }: RepositoryResource,
): Promise<void> {
  const row = await sessionStore(tx).getForUpdate(tenant, session)
  if (row.archived_at !== null || !authorization_token) return
  const all = ofType(await resourceStore(tx).ofSession(tenant, session), 'github_repository')
  const given = { tenant, session, now: clock.now(), seal }
  for (const { id, fields } of all)
    if (fields.url === url) await rotateToken(tx, given, id, authorization_token)
}
