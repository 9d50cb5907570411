/** The pull requests of a stub of GitHub: their heads, branches, and new ones, which it makes as GitHub does. */
import { z } from 'zod'
import type { GithubRoute } from './github-threads.ts'
import type { ReceivedPost, ReceiverAnswer } from './receiver.ts'

export type GithubPull = {
  title: string
  /** Who has opened it. */
  login: string
  body: string
  head: string
  sha: string
  /** The full name of the repository with the branch; null where a fork was deleted. */
  headRepository: string | null
  base: string
  draft: boolean
  state: 'open' | 'closed'
}

export type GithubPulls = {
  /** Pull requests by number. Any other number is a pull request from the branch `mend-pay` of acme/shop. */
  pulls: Map<number, GithubPull>
  /** The branches of acme/shop. */
  branches: Set<string>
  /** What each token lets its bearer do. */
  permissions: Map<string, Readonly<Record<string, string>>>
  /** True: the next pull requests are made, and their answers are lost. */
  losesAnswers: boolean
  routes: GithubRoute[]
}

const json = (body: unknown, status = 200): ReceiverAnswer => ({
  status,
  body: JSON.stringify(body),
})
const missing = json({ message: 'Not Found' }, 404)
const forbidden = json({ message: 'Resource not accessible by integration' }, 403)
const invalid = (error: object): ReceiverAnswer =>
  json({ message: 'Validation Failed', errors: [{ resource: 'PullRequest', ...error }] }, 422)

export const githubPull = (changes: Partial<GithubPull> = {}): GithubPull => ({
  ...{ title: 'Mend pay', login: 'eve', body: '', head: 'mend-pay', sha: 'a'.repeat(40) },
  ...{ headRepository: 'acme/shop', base: 'main', draft: false, state: 'open' },
  ...changes,
})

/** The form of a new pull request in the published API description. */
const newPull = z.strictObject({
  title: z.string().min(1).max(256),
  body: z.string().max(65_536),
  head: z.string(),
  base: z.string(),
  draft: z.boolean(),
})

const repos = String.raw`\/github\/api\/repos\/acme\/shop`
const on = (method: string, path: string): RegExp => new RegExp(`^${method} ${repos}${path}$`)

export function githubPulls(): GithubPulls {
  const state: Omit<GithubPulls, 'routes'> = {
    pulls: new Map(),
    branches: new Set(['main', 'mend-pay']),
    permissions: new Map(),
    losesAnswers: false,
  }
  const { pulls, branches, permissions } = state
  const shown = (number: number, pull: GithubPull) => ({
    ...{ number, title: pull.title, body: pull.body, draft: pull.draft, state: pull.state },
    html_url: `https://github.com/acme/shop/pull/${number}`,
    user: { login: pull.login },
    head: {
      ref: pull.head,
      sha: pull.sha,
      repo: pull.headRepository === null ? null : { full_name: pull.headRepository },
    },
    base: { ref: pull.base, sha: 'b'.repeat(40), repo: { full_name: 'acme/shop' } },
    changed_files: 1,
  })
  const may = ({ headers }: ReceivedPost, permission: string): boolean =>
    permissions.get(headers.authorization?.replace('Bearer ', '') ?? '')?.[permission] === 'write'

  function make(posted: ReceivedPost): ReceiverAnswer {
    if (!may(posted, 'pull_requests')) return forbidden
    const { title, body, head, base, draft } = newPull.parse(JSON.parse(posted.body))
    if (!branches.has(head)) return invalid({ field: 'head', code: 'invalid' })
    if (!branches.has(base)) return invalid({ field: 'base', code: 'invalid' })
    const isOpen = [...pulls.values()].some(
      (each) => each.state === 'open' && each.head === head && each.base === base,
    )
    if (isOpen)
      return invalid({
        code: 'custom',
        message: `A pull request already exists for acme:${head}.`,
      })
    const number = 900 + pulls.size
    pulls.set(number, githubPull({ title, body, head, base, draft, login: 'steward[bot]' }))
    if (state.losesAnswers) return { status: 502 }
    return json(
      shown(number, githubPull({ title, body, head, base, draft, login: 'steward[bot]' })),
      201,
    )
  }

  const routes: GithubRoute[] = [
    [
      on('GET', String.raw`\/pulls\/(\d+)`),
      (_, [, number]) => json(shown(Number(number), pulls.get(Number(number)) ?? githubPull())),
    ],
    [
      on('GET', String.raw`\/pulls\?state=all&head=acme%3A([^&]+)&per_page=100`),
      (_, [, head = '']) =>
        json(
          [...pulls]
            .filter(([, pull]) => pull.head === decodeURIComponent(head))
            .map(([number, pull]) => shown(number, pull)),
        ),
    ],
    [on('POST', String.raw`\/pulls`), make],
    [on('GET', ''), () => json({ full_name: 'acme/shop', default_branch: 'main' })],
    [
      on('GET', String.raw`\/git\/ref\/heads%2F([^/]+)`),
      (_, [, branch = '']) =>
        branches.has(decodeURIComponent(branch))
          ? json({ ref: `refs/heads/${branch}`, object: { type: 'commit', sha: 'a'.repeat(40) } })
          : missing,
    ],
  ]
  return Object.assign(state, { routes })
}
