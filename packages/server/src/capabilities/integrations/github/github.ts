/**
 * Deliveries of GitHub: mentions, assignments, labels and requested reviews on issues and pull requests, and pressed
 * buttons.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { externalIdForm } from './checks.ts'
import { callFor, findGithubComment, lookUp, githubNotesAfter, searchFor } from './answers.ts'
import { isSigned } from '../deliveries/hmac.ts'
import type {
  AppIntegration,
  Incoming,
  IncomingDecision,
  InstallationChange,
} from '../integration.ts'
import { mentionsLogin } from './mentions.ts'
import { ignoredDelivery, parsePayload, shortenContext } from '../deliveries/payload.ts'
import { answerVerdict } from '../answers/verdict.ts'

export type GithubConfig = {
  /**
   * Full names, such as `acme/shop`. An app has one secret for all installations, so a valid signature does not show
   * which repository may send.
   */
  repositories: readonly string[]
  /** Logins of the only people whose requests reach the agent, spelled as in the payload. */
  authors: readonly string[]
  /** The login whose mention, and the login whose assignment, calls the agent. */
  mention: string | null
  assignee: string | null
  labels: readonly string[]
  /** Logins and slugs of teams. A review that is requested from one of them calls the agent. */
  reviewers: readonly string[]
}

const user = z.object({ login: z.string().min(1), type: z.string() })
const post = z.object({
  id: z.int().positive().optional(),
  body: z.string().nullish(),
  user: user.nullish(),
  html_url: z.string().optional(),
  created_at: z.string().nullish(),
  updated_at: z.string().nullish(),
  submitted_at: z.string().nullish(),
  /** Present when a program wrote under the name of a person. */
  performed_via_github_app: z.object({}).nullish(),
})
const thread = post.extend({
  number: z.int().positive(),
  title: z.string(),
  /** Present when the issue is a pull request. */
  pull_request: z.object({}).nullish(),
})
const payloadForm = z.object({
  sender: user,
  action: z.string().optional(),
  repository: z.object({ full_name: z.string() }).optional(),
  issue: thread.optional(),
  pull_request: thread.optional(),
  comment: post.optional(),
  review: post.optional(),
  assignee: user.nullish(),
  label: z.object({ name: z.string() }).optional(),
  requested_reviewer: user.nullish(),
  requested_team: z.object({ slug: z.string() }).nullish(),
  check_run: z
    .object({
      id: z.int().positive(),
      external_id: z.string().nullish(),
      app: z.object({ slug: z.string().nullish() }).nullish(),
    })
    .optional(),
  requested_action: z.object({ identifier: z.string() }).nullish(),
})
type Payload = z.infer<typeof payloadForm>
type Post = z.infer<typeof post>

const signatureForm = /^sha256=([0-9a-f]{64})$/

const installed = z.object({ id: z.number().int().positive() })
const installationForm = z.object({ installation: installed })
/**
 * The form matches only events about an installation: other events name their installation by the id alone, and a
 * deleted team, for example, ends no installation.
 */
const changeForm = z.object({
  installation: installed.extend({ account: z.object({}), app_id: z.number() }),
  action: z.string(),
})

const changes: Readonly<Record<string, InstallationChange['kind']>> = {
  deleted: 'revoked',
  suspend: 'suspended',
  unsuspend: 'resumed',
}

export const githubIntegration: AppIntegration<GithubConfig> = {
  /**
   * Only the body is signed, so a header with an id or an event proves nothing. The id is a hash of what was said and
   * when it was changed last, else of the body: a replay under other headers or with other bytes has the id of the first
   * delivery. GitHub signs no time, so no delivery is stale. A request that is too old is recognised by `saidMs`.
   */
  check({ headers, body }, secrets) {
    const [, hex] = signatureForm.exec(headers['x-hub-signature-256'] ?? '') ?? []
    if (hex === undefined) return { kind: 'refused', reason: 'unsigned' }
    if (!isSigned(hex, secrets, [body])) return { kind: 'refused', reason: 'forged' }
    const id = createHash('sha256').update(saidIn(body) ?? body)
    return { kind: 'genuine', id: id.digest('hex') }
  },

  /** Recognises the event by the body, because the header that names the event is not signed. */
  read(body) {
    const { data, error } = payloadForm.safeParse(parsePayload(body))
    return (config) =>
      data ? readPayload(data, config) : ignoredDelivery('malformed', error ? pointerOf(error) : '')
  },

  workspaceOf(body) {
    const { data } = installationForm.safeParse(parsePayload(body))
    return data && String(data.installation.id)
  },

  challengeOf: () => undefined,

  changeOf(body) {
    const { data } = changeForm.safeParse(parsePayload(body))
    const kind = data && changes[data.action]
    return kind && { kind, atMs: null }
  },

  callFor,
  lookUp,
  searchFor,
  found: findGithubComment,
  noted: githubNotesAfter,
  verdict: answerVerdict,
}

const saidForm = payloadForm.pick({
  action: true,
  issue: true,
  comment: true,
  review: true,
  repository: true,
})

/**
 * Names a new comment or a review at its last change. GitHub counts the comments of issues, of the code of pull requests
 * and of commits apart.
 */
function saidIn(body: Uint8Array): string | undefined {
  const { data } = saidForm.safeParse(parsePayload(body))
  const said = data && { created: data.comment, submitted: data.review }[data.action ?? '']
  const at = said?.updated_at ?? said?.submitted_at ?? said?.created_at
  if (!data?.repository || said?.id === undefined || !at) return undefined
  const about = data.issue ? 'issue' : 'code'
  return JSON.stringify([data.action, about, data.repository.full_name, said.id, Date.parse(at)])
}

function readPayload(payload: Payload, config: GithubConfig): Incoming {
  const { sender, repository, issue, pull_request } = payload
  if (!repository || !config.repositories.includes(repository.full_name)) {
    return ignoredDelivery('unrelated', '/repository/full_name')
  }
  if (payload.check_run) return decisionOf(payload, repository.full_name, config)
  const about = issue ?? pull_request
  const request = requestOf(payload, config)
  if (!about || !request) return ignoredDelivery('unrelated', '/action')
  if (sender.type !== 'User' || request.isByApp) return ignoredDelivery('bot', '/sender/type')
  if (!isAllowed(request, sender.login, config)) return ignoredDelivery('stranger', '/sender/login')
  const since = request.at ?? about.updated_at ?? null
  return {
    kind: 'message',
    scope: `${repository.full_name}#${about.number}`,
    author: sender.login,
    text: request.text.toWellFormed(),
    context: contextOf(issue ? 'issue' : 'pull request', about),
    target: {
      repository: repository.full_name,
      number: about.number,
      since,
      ...marksOf(payload, request),
    },
    ...saidAt(since),
  }
}

function saidAt(time: string | null): { saidMs?: number } {
  const saidMs = Date.parse(time ?? '')
  return Number.isFinite(saidMs) ? { saidMs } : {}
}

const pointerOf = ({ issues }: z.ZodError): string =>
  (issues[0]?.path ?? []).map((part) => `/${String(part)}`).join('')

const textOrNull = (text: string | null | undefined): string | null =>
  text ? shortenContext(text) : null

const contextOf = (type: string, about: z.infer<typeof thread>) => ({
  type,
  url: textOrNull(about.html_url),
  title: shortenContext(about.title),
  author: textOrNull(about.user?.login),
  body: textOrNull(about.body),
})

/** Marks for the target of answers: whether the thread is a pull request, and whether a review was requested. */
const marksOf = ({ issue, pull_request }: Payload, { isReview }: CallOfAgent) => ({
  ...((pull_request ?? issue?.pull_request) && { pull: 1 }),
  ...(isReview && { review: 1 }),
})

type CallOfAgent = {
  author: string | undefined
  text: string
  isByApp: boolean
  /** True when the answer is a review. */
  isReview?: boolean
  /** A time before the first answer. */
  at: string | null | undefined
}

/** Returns undefined when nothing calls the agent. An edit calls nobody, because the first version of the text did. */
function requestOf(payload: Payload, config: GithubConfig): CallOfAgent | undefined {
  const { action, issue, pull_request, comment, review, assignee, label } = payload
  const fromSender = (text: string): CallOfAgent => ({
    author: payload.sender.login,
    text,
    isByApp: false,
    at: (issue ?? pull_request)?.updated_at,
  })
  switch (action) {
    case 'created':
      return mentionIn(comment, config)
    case 'submitted':
      return mentionIn(review, config)
    case 'opened':
      return mentionIn(issue ?? pull_request, config)
    case 'assigned':
      return assignee && assignee.login === config.assignee
        ? fromSender('This is assigned to you: work on it.')
        : undefined
    case 'labeled':
      return label && config.labels.includes(label.name)
        ? fromSender(`The label ${JSON.stringify(label.name)} was put here: work on it.`)
        : undefined
    case 'review_requested':
      return isAskedToReview(payload, config)
        ? { ...fromSender('Your review is requested: review this pull request.'), isReview: true }
        : undefined
    default:
      return undefined
  }
}

function isAskedToReview(
  { requested_reviewer, requested_team }: Payload,
  { reviewers, assignee }: GithubConfig,
): boolean {
  const asked = [requested_reviewer?.login, requested_team?.slug]
  return [...reviewers, assignee].some((each) => each !== null && asked.includes(each))
}

const isAllowed = ({ author }: CallOfAgent, sender: string, { authors }: GithubConfig): boolean =>
  author === sender && authors.includes(sender)

function decisionOf(payload: Payload, repository: string, config: GithubConfig): Incoming {
  const { sender } = payload
  const pressed = pressOf(payload, config)
  if (!pressed) return ignoredDelivery('unrelated', '/check_run')
  if (sender.type !== 'User') return ignoredDelivery('bot', '/sender/type')
  if (!config.authors.includes(sender.login)) return ignoredDelivery('stranger', '/sender/login')
  const { number, ...decision } = pressed
  return {
    kind: 'decision',
    scope: `${repository}#${number}`,
    author: sender.login,
    ...decision,
  }
}

/** The pressed button of one of this app's check runs. `number`: the number of the pull request. */
function pressOf(
  { action, check_run, requested_action }: Payload,
  { mention }: GithubConfig,
): (Pick<IncomingDecision, 'call' | 'message' | 'result'> & { number: string }) | undefined {
  if (!check_run || mention === null || check_run.app?.slug !== mention) return undefined
  if (action !== 'requested_action' || !requested_action) return undefined
  const [, number, call] = externalIdForm.exec(check_run.external_id ?? '') ?? []
  if (number === undefined || call === undefined) return undefined
  const result = requested_action.identifier === 'approve' ? 'allow' : 'deny'
  return { number, call, message: String(check_run.id), result }
}

function mentionIn(found: Post | undefined, config: GithubConfig): CallOfAgent | undefined {
  if (!found?.body || config.mention === null) return undefined
  if (!mentionsLogin(found.body, config.mention)) return undefined
  const isByApp = Boolean(found.performed_via_github_app)
  const at = found.submitted_at ?? found.created_at
  return { author: found.user?.login, text: found.body, isByApp, at }
}
