/** What wakes an agent on its pull requests, where the publication says so: checks, commits of others, and reviews. */
import type { Wake } from '../../../ground/database/tables/integrations.ts'
import { sameName } from '../deliveries/listed-names.ts'
import { ignoredDelivery, shortenContext } from '../deliveries/payload.ts'
import type { Incoming } from '../integration.ts'
import type { CallOfAgent, GithubConfig } from './config.ts'
import type { Payload, Thread } from './payload.ts'

const failures = ['failure', 'timed_out']

const openerOf = ({ user }: Thread, { assignee }: GithubConfig): Wake['opener'] =>
  user && assignee !== null && sameName(user.login, assignee) ? 'agent' : 'other'

type CheckSuite = NonNullable<Payload['check_suite']>

/** The pull request whose newest commit the checks are about. */
const pullOf = ({ head_sha, pull_requests }: CheckSuite) =>
  pull_requests?.find(({ head }) => head.sha === head_sha)

/** The checks of another program have ended, and not well. */
const isFailure = ({ action }: Payload, { conclusion, app }: CheckSuite, own: string | null) =>
  action === 'completed' && failures.includes(conclusion ?? '') && app?.slug !== own

/** Reads that the checks of one program for one commit have ended. */
export function readChecks(
  payload: Payload,
  repository: { listed: string; name: string },
  { wakes, mention }: GithubConfig,
): Incoming {
  const { check_suite: suite, sender } = payload
  const pull = suite && pullOf(suite)
  if (!pull || !wakes?.includes('failed_checks') || !isFailure(payload, suite, mention))
    return ignoredDelivery('unrelated', '/check_suite')
  const { head_sha: head, app, updated_at: at = null } = suite
  const { number } = pull
  const scope = `${repository.listed}#${number}`
  const saidMs = Date.parse(at ?? '')
  return {
    kind: 'message',
    scope,
    author: app?.slug ?? sender.login,
    text: 'Checks of your pull request have failed. Find out why, and mend it.',
    context: {
      type: 'pull request',
      commit: shortenContext(head),
      checks_by: shortenContext(app?.name ?? ''),
    },
    target: { repository: repository.name, number, since: at, pull: 1 },
    wake: { kind: 'failed_checks', pull_request: scope, head },
    ...(Number.isFinite(saidMs) && { saidMs }),
  }
}

/** What happens to a pull request by a person who does not mention the agent. */
export function wakingRequestOf(payload: Payload, config: GithubConfig): CallOfAgent | undefined {
  if (payload.action === 'synchronize') return newCommits(payload, config)
  return payload.action === 'submitted' ? requestedChanges(payload, config) : undefined
}

function newCommits(
  { pull_request: pull, sender }: Payload,
  config: GithubConfig,
): CallOfAgent | undefined {
  const head = pull?.head?.sha
  if (!pull || head === undefined || !config.wakes?.includes('new_commits')) return undefined
  return {
    author: sender.login,
    text: 'Somebody else has pushed commits to the branch of your pull request. Fetch them, see what they change for your work, and go on from there.',
    isByApp: false,
    at: pull.updated_at,
    wake: { kind: 'new_commits', head, opener: openerOf(pull, config) },
    isOfService: true,
  }
}

function requestedChanges(
  { pull_request: pull, review }: Payload,
  config: GithubConfig,
): CallOfAgent | undefined {
  const isMeant = review?.state === 'changes_requested'
  if (!pull || !isMeant || !config.wakes?.includes('changes_requested')) return undefined
  const { id, body, user, submitted_at, performed_via_github_app } = review
  const asks =
    'A review of your pull request requests changes. Work on them; remarks on lines stand in the context.'
  return {
    author: user?.login,
    text: body ? `${asks}\n\n${body}` : asks,
    isByApp: Boolean(performed_via_github_app),
    at: submitted_at,
    wake: {
      kind: 'changes_requested',
      head: pull.head?.sha ?? '',
      opener: openerOf(pull, config),
      ...(id !== undefined && { review: id }),
    },
  }
}
