/**
 * Opens a pull request for the agent of a session, with the credential of the app. The call is in the log before this
 * runs. After a crash it runs again, and finds what it has opened by the mark in it.
 */
import type { OpenPullRequest, PullRequestRequest } from '@steward/harness/tools/pull-request.ts'
import { iso } from '@steward/base/time.ts'
import { isRefName } from '../../../ground/core/text/ref-names.ts'
import type { Database } from '../../../ground/database/database.ts'
import { rows } from '../../../ground/database/rows.ts'
import type { CodeSubject, OpenAtProvider, PullRequestPort } from '../code.ts'
import { hostedRepositoryOf } from '../hosted-repository.ts'
import { tokenInTime } from '../installations/app-access.ts'
import type { App } from '../installations/app.ts'
import type { TokenDeps } from '../installations/token.ts'
import { findInstallationToken } from '../installations/token.ts'
import type { AnswerOutcome, ProviderCall } from '../integration.ts'
import type { ExternalThreadRow, InstallationRow, PublicationRow } from '../store.ts'
import { integrationStore } from '../store.ts'
import { whyUnserved } from '../unserved.ts'

export type PullRequestDeps = TokenDeps & {
  /** The address of a session in the console; undefined where nobody has named the console's. */
  linkOf?: (session: string) => string | undefined
}

const mostBranch = 1_024

/** What a session opens pull requests for. */
export type PublishedThread = {
  db: Database
  publication: PublicationRow
  thread: ExternalThreadRow & { session_id: string }
}

/** `app`: with its function that opens pull requests. */
export const opensPullRequests =
  (
    deps: PullRequestDeps,
    published: PublishedThread,
    app: App & { openPullRequest: OpenAtProvider },
  ): OpenPullRequest =>
  async (asked, { call, signal }) => {
    const fault = faultIn(asked)
    if (fault !== undefined) return { refused: fault }
    const { db, thread } = published
    const publication = await rows(db.read, 'publications').find(
      published.publication.tenant_id,
      published.publication.id,
    )
    if (!publication) return { refused: 'The publication of this session is deleted.' }
    const unserved = await whyUnserved(db.read, publication)
    if (unserved !== undefined) return { refused: `Nothing is opened: ${unserved}.` }
    const { tenant_id: tenant } = publication
    const hosted = hostedRepositoryOf(publication, thread.target)
    const about = hosted && subjectOf(deps, publication, thread)
    if (!about) return { refused: 'This conversation is about no repository.' }
    const row = await rows(db.read, 'installations').find(tenant, hosted.installation_id ?? '')
    if (row?.status !== 'active') return { refused: 'The app is no longer installed.' }
    const port = await portOf(deps, published, { app, row, signal })
    if ('refused' in port) return port
    const session = thread.session_id
    const link = deps.linkOf?.(session)
    const { repository } = hosted
    const work = { ...asked, repository, about, session, call, link }
    const outcome = await app.openPullRequest(port, work)
    // Deliveries about a pull request reach publications of its own installation alone.
    const isHeard = hosted.installation_id === publication.installation_id
    if ('number' in outcome && isHeard) await keepOpened(deps, published, asked, outcome.number)
    return outcome
  }

function faultIn({ branch, base }: PullRequestRequest): string | undefined {
  const names = { branch, ...(base !== undefined && { base }) }
  const [wrong] = Object.entries(names).find(([, name]) => !isBranch(name)) ?? []
  return wrong && `${wrong}: is no name of a branch, such as mend-the-build`
}

/** Longer names would make addresses that no server takes. */
const isBranch = (name: string): boolean =>
  name.length <= mostBranch && isRefName(`refs/heads/${name}`)

/** The thread's own number: the target is that of the newest message, which may be another place. */
function subjectOf(
  { apps }: PullRequestDeps,
  { integration, spec }: PublicationRow,
  { scope, target }: ExternalThreadRow,
): CodeSubject | undefined {
  if (spec.code) return { line: apps.get(integration)?.referenceTo?.(target) }
  const number = Number(/#(\d+)$/.exec(scope)?.[1])
  return Number.isInteger(number) ? { number } : undefined
}

/** A token that the provider refuses is replaced once. */
async function portOf(
  deps: PullRequestDeps,
  { db, publication }: PublishedThread,
  { app, row, signal }: { app: App; row: InstallationRow; signal: AbortSignal },
): Promise<PullRequestPort | { refused: string }> {
  const { tenant_id: tenant } = publication
  const found = await tokenInTime(deps, { db, tenant, signal }, row)
  if (found.kind !== 'token') return { refused: 'The provider gives the app no token for now.' }
  let { token } = found
  const sendAs = ({ method, path, headers, body }: ProviderCall, until: AbortSignal) => {
    const authorization = `Bearer ${token}`
    const url = `${app.apiUrl}${path}`
    return deps.sendToProvider({ method, url, headers: { ...headers, authorization }, body }, until)
  }
  const send = async (call: ProviderCall, until: AbortSignal): Promise<AnswerOutcome> => {
    const answer = await sendAs(call, until)
    if (!('status' in answer) || answer.status !== 401) return answer
    const renewed = await findInstallationToken(deps, db, row, { signal: until, refused: token })
    if (renewed.kind !== 'token' || renewed.token === token) return answer
    token = renewed.token
    return sendAs(call, until)
  }
  // The sender itself limits the time of a request.
  const never = new AbortController().signal
  return { send: (call) => send(call, signal), sendOnce: (call) => send(call, never) }
}

/** What comes for the pull request belongs to the thread from now on. */
async function keepOpened(
  { clock }: PullRequestDeps,
  { db, publication, thread }: PublishedThread,
  { branch }: PullRequestRequest,
  number: number,
): Promise<void> {
  const { tenant_id, id: publication_id } = publication
  const [repository] = thread.scope.split('#')
  await db.write(async (tx) => {
    const isThere = await rows(tx, 'publications').findForUpdate(tenant_id, publication_id)
    if (!isThere) return
    await integrationStore(tx).notePullRequest({
      tenant_id,
      publication_id,
      scope: `${repository}#${number}`,
      thread_scope: thread.scope,
      session_id: thread.session_id,
      head: branch,
      created_at: iso(clock.now()),
    })
  })
}
