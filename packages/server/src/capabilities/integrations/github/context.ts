/** The context of a request on GitHub: earlier comments, what is linked, and of a pull request its changes. */
import { z } from 'zod'
import { beginningOf, boundedEntries } from '../context-bounds.ts'
import type { Context, ContextSource, GatherContext } from '../context.ts'
import type { IncomingMessage } from '../integration.ts'
import { closing, ownMark } from './texts.ts'
import { contextOfWake } from './own-pulls.ts'
import { buildGet } from './calls.ts'

const user = z.object({ login: z.string() }).nullish()
const comment = z.object({
  id: z.number(),
  body: z.string().nullish(),
  user,
  author_association: z.string().nullish(),
  created_at: z.string().nullish(),
  submitted_at: z.string().nullish(),
  state: z.string().nullish(),
  path: z.string().nullish(),
  line: z.int().nullish(),
  diff_hunk: z.string().nullish(),
  in_reply_to_id: z.number().nullish(),
})
type GithubComment = z.infer<typeof comment>
const comments = z.array(comment)
const issue = z.object({
  number: z.int(),
  title: z.string(),
  state: z.string(),
  html_url: z.string().nullish(),
  body: z.string().nullish(),
  comments: z.int().default(0),
  labels: z.array(z.union([z.string(), z.object({ name: z.string().nullish() })])).default([]),
  assignees: z.array(z.object({ login: z.string() })).nullish(),
  milestone: z.object({ title: z.string() }).nullish(),
  pull_request: z.object({}).nullish(),
})
type GithubIssue = z.infer<typeof issue>
const branch = z.object({
  ref: z.string(),
  sha: z.string(),
  repo: z.object({ full_name: z.string() }).nullish(),
})
const pull = z.object({
  draft: z.boolean().nullish(),
  merged: z.boolean().nullish(),
  head: branch,
  base: branch,
  changed_files: z.int().nullish(),
})
const files = z.array(
  z.object({
    filename: z.string(),
    previous_filename: z.string().nullish(),
    status: z.string(),
    additions: z.int(),
    deletions: z.int(),
    patch: z.string().nullish(),
  }),
)
const timeline = z.array(
  z.object({
    event: z.string().nullish(),
    source: z.object({ issue: issue.optional() }).nullish(),
  }),
)

/** The most items of a page at GitHub. */
const pageSize = 100
const [commentCharacters, patchCharacters] = [40_000, 20_000]
const mostLinked = 5

/** `since`: of a session that goes on, the time of its last message. */
type IssueRef = { repository: string; number: number; isPull: boolean; since: string | null }

/** Of a session that goes on, only what is newer than its last message. */
const isNewSince =
  (since: string | null) =>
  ({ created_at, submitted_at }: GithubComment): boolean =>
    since === null || Date.parse(submitted_at ?? created_at ?? '') > Date.parse(since)

const shown = (each: GithubComment) => ({
  author: each.user?.login ?? null,
  ...(each.author_association && { association: each.author_association }),
  at: each.submitted_at ?? each.created_at ?? null,
  ...(each.state && { review: each.state }),
  text: beginningOf((each.body ?? '').replaceAll(ownMark, '').trim()),
})

/** The comments below an issue or pull request, the oldest page and the newest. */
async function commentsOf(
  { ask }: ContextSource,
  { repository, number, since }: IssueRef,
  count: number,
): Promise<GithubComment[]> {
  const path = `/repos/${repository}/issues/${number}/comments?per_page=${pageSize}`
  const what = 'earlier comments'
  const query = since === null ? '' : `&since=${encodeURIComponent(since)}`
  const first = (await ask({ call: buildGet(`${path}${query}`), form: comments, what })) ?? []
  const last = Math.ceil(count / pageSize)
  if (since !== null || last < 2) return first
  const newest = await ask({ call: buildGet(`${path}&page=${last}`), form: comments, what })
  const before =
    last > 2 && count % pageSize !== 0
      ? await ask({ call: buildGet(`${path}&page=${last - 1}`), form: comments, what })
      : []
  return [...first, ...(before ?? []), ...(newest ?? [])]
}

/** The thread of the line that a request is about, by the comment that begins it. */
async function lineThread(
  { ask }: ContextSource,
  { repository, number }: IssueRef,
  root: number,
): Promise<GithubComment[]> {
  const what = 'the thread of the line'
  const path = `/repos/${repository}/pulls/${number}/comments?per_page=${pageSize}&sort=created&direction=desc`
  const all = (await ask({ call: buildGet(path), form: comments, what })) ?? []
  const thread = all.filter(({ id, in_reply_to_id }) => id === root || in_reply_to_id === root)
  if (thread.some(({ id }) => id === root)) return thread.toReversed()
  const call = buildGet(`/repos/${repository}/pulls/comments/${root}`)
  const begun = await ask({ call, form: comment, what })
  return [...(begun ? [begun] : []), ...thread.toReversed()]
}

const linked = ({ number, title, state, html_url, pull_request }: GithubIssue) => ({
  type: pull_request ? 'pull request' : 'issue',
  number,
  title: beginningOf(title),
  state,
  url: html_url ?? null,
})

async function linkedIssues(
  { ask }: ContextSource,
  { repository, number }: IssueRef,
  body: string,
): Promise<ReturnType<typeof linked>[]> {
  const what = 'linked issues'
  const path = `/repos/${repository}/issues/${number}/timeline?per_page=${pageSize}`
  const events = (await ask({ call: buildGet(path), form: timeline, what })) ?? []
  const mentioned = events.flatMap(({ source }) => source?.issue ?? [])
  const numbers = [...body.matchAll(closing)].map(([, each]) => Number(each))
  const named = await Promise.all(
    [...new Set(numbers)]
      .slice(0, mostLinked)
      .map((each) =>
        ask({ call: buildGet(`/repos/${repository}/issues/${each}`), form: issue, what }),
      ),
  )
  const all = [...named.flatMap((each) => each ?? []), ...mentioned].map(
    (each) => [each.html_url ?? each.number, linked(each)] as const,
  )
  return [...new Map(all).values()].slice(0, 2 * mostLinked)
}

/** The branches and the changed files of a pull request. Patches are cut where all of them are long. */
async function changesOf(
  { ask }: ContextSource,
  { repository, number }: IssueRef,
): Promise<Context> {
  const path = `/repos/${repository}/pulls/${number}`
  const [found, changed = []] = await Promise.all([
    ask({ call: buildGet(path), form: pull, what: 'the pull request' }),
    ask({
      call: buildGet(`${path}/files?per_page=${pageSize}`),
      form: files,
      what: 'the changed files',
    }),
  ])
  let left = patchCharacters
  const shownFiles = changed.map(({ filename, previous_filename, patch, ...counts }) => {
    const own = patch && left > 0 ? beginningOf(patch, left) : undefined
    left -= own?.length ?? 0
    return {
      path: filename,
      ...(previous_filename && { before: previous_filename }),
      ...counts,
      ...(own !== undefined && { patch: own }),
    }
  })
  const all = found?.changed_files ?? changed.length
  return {
    ...(found && {
      branches: {
        head: found.head.ref,
        head_commit: found.head.sha,
        head_repository: found.head.repo?.full_name ?? null,
        base: found.base.ref,
      },
      ...(found.draft && { draft: true }),
      ...(found.merged && { merged: true }),
    }),
    changed_files: shownFiles,
    ...(all > changed.length && { more_changed_files: all - changed.length }),
  }
}

function about({ labels, assignees, milestone, state }: GithubIssue): Context {
  const names = labels.flatMap((each) => (typeof each === 'string' ? each : (each.name ?? [])))
  return {
    state,
    ...(names.length > 0 && { labels: names.map((name) => beginningOf(name, 200)) }),
    ...(assignees?.length && { assignees: assignees.map(({ login }) => login) }),
    ...(milestone && { milestone: beginningOf(milestone.title, 200) }),
  }
}

async function reviewsOf(
  { ask }: ContextSource,
  { repository, number }: IssueRef,
): Promise<GithubComment[]> {
  const call = buildGet(`/repos/${repository}/pulls/${number}/reviews?per_page=${pageSize}`)
  const all = await ask({ call, form: comments, what: 'earlier reviews' })
  return (all ?? []).filter(({ body }) => body)
}

const byTime = (one: GithubComment, other: GithubComment): number =>
  Date.parse(one.submitted_at ?? one.created_at ?? '') -
  Date.parse(other.submitted_at ?? other.created_at ?? '')

function placeOf({ target }: IncomingMessage, since: string | null): IssueRef | undefined {
  const { repository, number, pull: isPull } = target
  return typeof repository === 'string' && typeof number === 'number'
    ? { repository, number, isPull: isPull === 1, since }
    : undefined
}

/**
 * A session that begins reads everything. One that goes on reads what is new: its history has the rest, and its own
 * comments.
 */
export const gatherGithub: GatherContext = async (source, message) => {
  const { since, botUserId } = source
  const place = placeOf(message, since)
  if (!place) return { context: {} }
  const { said, line_thread: root } = message.target
  const isOther = ({ id, user: by }: GithubComment) =>
    id !== said && (since === null || by?.login !== botUserId)
  const isShown = (each: GithubComment) => isNewSince(since)(each) && isOther(each)
  const call = buildGet(`/repos/${place.repository}/issues/${place.number}`)
  const found = await source.ask({ call, form: issue, what: 'labels and assignees' })
  const [ofWake, earlier, reviews, thread, links, changes] = await Promise.all([
    contextOfWake(source, message),
    commentsOf(source, place, found?.comments ?? 0),
    place.isPull ? reviewsOf(source, place) : [],
    typeof root === 'number' ? lineThread(source, place, root) : [],
    since === null ? linkedIssues(source, place, found?.body ?? '') : [],
    place.isPull ? changesOf(source, place) : {},
  ])
  const all = [...earlier, ...reviews].filter(isShown).sort(byTime).map(shown)
  const ofLine = thread.filter(isOther).map(shown)
  return {
    context: {
      ...(found && about(found)),
      ...ofWake,
      ...(all.length > 0 && { comments: boundedEntries(all, commentCharacters) }),
      ...(ofLine.length > 0 && { line_thread: boundedEntries(ofLine, commentCharacters) }),
      ...(links.length > 0 && { linked: links }),
      ...changes,
    },
  }
}
