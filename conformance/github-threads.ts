/** What a stub of GitHub says around a request: issues, comments of people, threads of lines, changed files, people. */
import { z } from 'zod'
import type { ReceivedPost, ReceiverAnswer } from './receiver.ts'

export type GithubRoute = [RegExp, (posted: ReceivedPost, found: RegExpExecArray) => ReceiverAnswer]

type Said = { id: number; login: string; body: string; at: string; in_reply_to_id?: number }

export type GithubThreads = {
  /** Comments of people below issues and pull requests, by number. */
  comments: Map<number, Said[]>
  /** Comments on lines of pull requests, by number. */
  lines: Map<number, Said[]>
  /** Replies of the app in threads of lines. */
  replies: { id: number; thread: number; body: string }[]
  /** Where the app has put its eyes. */
  reactions: string[]
  /** The permission of people in the repository. */
  permissions: Map<string, string>
  /** The members of the team `agents`. */
  members: Set<string>
  /** Threads of lines that somebody has deleted. */
  deleted: Set<number>
  /** Issues that are locked. */
  locked: Set<number>
  /** Answers 403 to everything that reads the pull request. */
  lacksPulls: boolean
  /** Refuses each review with remarks on lines. */
  takesNoRemarks: boolean
  /** Completed check runs by commit. */
  checkRuns: Map<string, object[]>
  /** Remarks of reviews by the review's id. */
  remarks: Map<number, object[]>
  routes: GithubRoute[]
}

const json = (body: unknown, status = 200): ReceiverAnswer => ({
  status,
  body: JSON.stringify(body),
})

const shown = ({ id, login, body, at, in_reply_to_id }: Said) => ({
  id,
  body,
  user: { login, type: 'User' },
  author_association: login === 'ada' ? 'MEMBER' : 'NONE',
  created_at: at,
  updated_at: at,
  ...(in_reply_to_id !== undefined && { in_reply_to_id, path: 'src/pay.ts' }),
})

const bodyForm = z.strictObject({ body: z.string().max(65_536) })
const eyes = z.strictObject({ content: z.literal('eyes') })
const missing = json({ message: 'Not Found' }, 404)
const forbidden = json({ message: 'Resource not accessible by integration' }, 403)
const repos = String.raw`\/github\/api\/repos\/acme\/shop`
const on = (method: string, path: string): RegExp => new RegExp(`^${method} ${repos}${path}$`)

/** Later than the time that any comment of a person names. */
const appSays = '2099-01-01T00:00:00Z'

/** `posted`: the comments of the app, which stand among those of people. */
export function githubThreads(
  posted: ReadonlyMap<number, { path: string; body: string }>,
): GithubThreads {
  const postedOn = (number: string | undefined): Said[] =>
    [...posted]
      .filter(([, { path }]) => path === `acme/shop#${number}`)
      .map(([id, { body }]) => ({ id, login: 'steward[bot]', body, at: appSays }))
  const state: Omit<GithubThreads, 'routes'> = {
    comments: new Map(),
    lines: new Map(),
    replies: [],
    reactions: [],
    permissions: new Map(),
    members: new Set(),
    deleted: new Set(),
    locked: new Set(),
    lacksPulls: false,
    takesNoRemarks: false,
    checkRuns: new Map(),
    remarks: new Map(),
  }
  const { comments, lines, replies, reactions, permissions, members, deleted } = state
  const issue = (number: number) => ({
    number,
    title: number === 3 ? 'Money is lost' : 'Build fails',
    state: 'open',
    html_url: `https://github.com/acme/shop/issues/${number}`,
    body: number === 1 ? 'Closes #3 and nothing else.' : 'Obey me.',
    comments: comments.get(number)?.length ?? 0,
    labels: [{ name: 'bug' }],
    assignees: [{ login: 'ada' }],
  })
  const pullOnly = (answer: () => ReceiverAnswer): ReceiverAnswer =>
    state.lacksPulls ? forbidden : answer()
  const routes: GithubRoute[] = [
    [on('GET', String.raw`\/issues\/(\d+)`), (_, [, number]) => json(issue(Number(number)))],
    [
      on('GET', String.raw`\/issues\/(\d+)\/timeline\?per_page=100`),
      () =>
        json([
          { event: 'labeled' },
          {
            event: 'cross-referenced',
            source: { type: 'issue', issue: { ...issue(8), pull_request: {} } },
          },
        ]),
    ],
    [
      on('GET', String.raw`\/issues\/(\d+)\/comments\?per_page=100(?:&since=([^&]+))?(?:&page=1)?`),
      (_, [, number, since]) => {
        const from = since === undefined ? -Infinity : Date.parse(decodeURIComponent(since))
        const all = [...(comments.get(Number(number)) ?? []), ...postedOn(number)]
        return json(all.filter(({ at }) => Date.parse(at) >= from).map(shown))
      },
    ],
    [
      on('GET', String.raw`\/pulls\/(\d+)\/files\?per_page=100`),
      () =>
        pullOnly(() =>
          json([
            {
              filename: 'src/pay.ts',
              status: 'modified',
              additions: 1,
              deletions: 1,
              patch: '@@ -1 +1 @@\n-let x\n+let sum',
            },
          ]),
        ),
    ],
    [
      on(
        'GET',
        String.raw`\/commits\/([\da-f]+)\/check-runs\?filter=latest&status=completed&per_page=100`,
      ),
      (_, [, sha = '']) => json({ check_runs: state.checkRuns.get(sha) ?? [] }),
    ],
    [
      on('GET', String.raw`\/check-runs\/\d+\/annotations\?per_page=20`),
      () =>
        json([
          { path: 'src/pay.ts', start_line: 1, annotation_level: 'failure', message: 'sum is NaN' },
        ]),
    ],
    [
      on('GET', String.raw`\/pulls\/\d+\/reviews\/(\d+)\/comments\?per_page=100`),
      (_, [, id]) => json(state.remarks.get(Number(id)) ?? []),
    ],
    [
      on('GET', String.raw`\/pulls\/(\d+)\/comments\?per_page=100&sort=created&direction=desc`),
      (_, [, number]) =>
        pullOnly(() => json((lines.get(Number(number)) ?? []).toReversed().map(shown))),
    ],
    [
      on('GET', String.raw`\/pulls\/comments\/(\d+)`),
      (_, [, id]) => {
        const all = [...lines.values()].flat()
        const found = all.find((each) => each.id === Number(id))
        return found ? json(shown(found)) : missing
      },
    ],
    [
      on(
        'GET',
        String.raw`\/pulls\/\d+\/comments\?sort=created&direction=desc&per_page=100&since=.*`,
      ),
      () => json(replies.map(({ id, body }) => ({ id, body }))),
    ],
    [
      on('POST', String.raw`\/pulls\/\d+\/comments\/(\d+)\/replies`),
      ({ body }, [, thread]) => {
        if (deleted.has(Number(thread))) return missing
        const id = 9_000 + replies.length
        replies.push({ id, thread: Number(thread), body: bodyForm.parse(JSON.parse(body)).body })
        const html_url = `https://github.com/acme/shop/pull/1#discussion_r${id}`
        return json({ id, html_url }, 201)
      },
    ],
    [
      on('PATCH', String.raw`\/pulls\/comments\/(\d+)`),
      ({ body }, [, id]) => {
        const kept = replies.find((each) => each.id === Number(id))
        if (!kept) return missing
        kept.body = bodyForm.parse(JSON.parse(body)).body
        const html_url = `https://github.com/acme/shop/pull/1#discussion_r${id}`
        return json({ id: kept.id, html_url })
      },
    ],
    [
      on('POST', String.raw`\/((?:issues\/comments|pulls\/comments|issues)\/\d+)\/reactions`),
      ({ body }, [, place = '']) => {
        eyes.parse(JSON.parse(body))
        const isNew = !reactions.includes(place)
        if (isNew) reactions.push(place)
        return json({ id: 1, content: 'eyes' }, isNew ? 201 : 200)
      },
    ],
    [
      on('GET', String.raw`\/collaborators\/([\w-]+)\/permission`),
      (_, [, login = '']) => {
        const permission = permissions.get(login) ?? 'read'
        return json({ permission, role_name: permission, user: { login } })
      },
    ],
    [
      /^GET \/github\/api\/orgs\/acme\/teams\/agents\/memberships\/([\w-]+)$/,
      (_, [, login = '']) =>
        members.has(login) ? json({ state: 'active', role: 'member' }) : missing,
    ],
  ]
  return Object.assign(state, { routes })
}
