/**
 * Opens pull requests on GitHub. A mark in the body says which call of which session has opened one, so that a call
 * whose answer was lost finds its own. GitHub refuses a second open pull request for a branch.
 */
import { z } from 'zod'
import type { NewPullRequest, OpenedPullRequest, PullRequestPort } from '../code.ts'
import { beginningOf } from '../context-bounds.ts'
import { parsePayload, shortenedAnswer } from '../deliveries/payload.ts'
import { sameName } from '../deliveries/listed-names.ts'
import type { AnswerOutcome, ProviderCall } from '../integration.ts'
import { closing, markOf, mostCharacters, quiet, withoutMarks } from './texts.ts'
import { buildGet, githubHeaders } from './calls.ts'

const mostTitle = 250

const repositoryForm = z.object({ default_branch: z.string().min(1) })
const issueForm = z.object({ pull_request: z.object({}).nullish() })
const pullForm = z.object({
  number: z.int().positive(),
  html_url: z.string().max(1_000),
  state: z.string(),
  body: z.string().nullish(),
  head: z.object({ repo: z.object({ full_name: z.string() }).nullish() }),
  base: z.object({ ref: z.string() }),
})
type Pull = z.infer<typeof pullForm>
const errorForm = z.object({
  message: z.string(),
  errors: z
    .array(
      z.object({
        message: z.string().optional(),
        field: z.string().optional(),
        code: z.string().optional(),
      }),
    )
    .optional(),
})

/** What GitHub does not do, in words for the agent. */
class RefusedError extends Error {}

type GithubAnswer = { status: number; body: unknown }

/** The answer, of whatever status below 500. Throws where GitHub does not answer, or refuses the app. */
async function sentBy({ send }: PullRequestPort, call: ProviderCall): Promise<GithubAnswer> {
  const answer = await send(call)
  if (!('status' in answer)) throw new RefusedError(`GitHub did not answer: ${answer.error}`)
  const { status } = answer
  if (status === 401) throw new RefusedError('GitHub does not take the credential of the app.')
  if (status >= 500 || status === 429) throw new RefusedError(`GitHub answered ${status}.`)
  return { status, body: parsePayload(Buffer.from(answer.body)) }
}

async function read<Answer>(
  port: PullRequestPort,
  call: ProviderCall,
  form: z.ZodType<Answer>,
): Promise<Answer> {
  const { status, body } = await sentBy(port, call)
  if (status !== 200) throw new RefusedError(refusalOf(status, body))
  const { data } = form.safeParse(body)
  if (data === undefined) throw new RefusedError('The answer of GitHub is not readable.')
  return data
}

/** The words of a refusal, with each of its reasons. */
function refusalOf(status: number, body: unknown): string {
  const { data } = errorForm.safeParse(body)
  const reasons = (data?.errors ?? []).map(
    ({ message, field, code }) => message ?? `${field ?? ''}: ${code ?? ''}`,
  )
  const why = beginningOf([data?.message ?? `status ${status}`, ...reasons].join('; '), 500)
  return status === 403
    ? `GitHub refuses this: ${why}. The app needs the permissions Pull requests and Contents, to read and write.`
    : `GitHub refuses this: ${why}.`
}

/**
 * The pull request of this call, or an open one of an earlier call of this session for the branch. Of a repository of
 * somebody else with the same branch it is none.
 */
async function findOwn(
  port: PullRequestPort,
  asked: NewPullRequest,
  base: string,
): Promise<{ own?: Pull; other?: Pull }> {
  const { repository, branch, session, call } = asked
  const [owner = ''] = repository.split('/')
  const head = encodeURIComponent(`${owner}:${branch}`)
  const path = `/repos/${repository}/pulls?state=all&head=${head}&per_page=100`
  const all = (await read(port, buildGet(path), z.array(pullForm))).filter((each) =>
    sameName(each.head.repo?.full_name ?? '', repository),
  )
  const open = all.filter((each) => each.state === 'open' && each.base.ref === base)
  const has = (mark: string) => (each: Pull) => each.body?.includes(mark) ?? false
  const own =
    all.find(has(markOf({ id: call }, asked))) ?? open.find(has(`<!-- steward:${session}:`))
  const [other] = open
  return { ...(own && { own }), ...(other && { other }) }
}

async function isPushed(
  port: PullRequestPort,
  { repository, branch }: NewPullRequest,
): Promise<boolean> {
  const ref = encodeURIComponent(`heads/${branch}`)
  const { status, body } = await sentBy(port, buildGet(`/repos/${repository}/git/ref/${ref}`))
  if (status !== 200 && status !== 404) throw new RefusedError(refusalOf(status, body))
  return status === 200
}

/** Undefined where the agent's text closes the issue. */
async function issueLine(
  port: PullRequestPort,
  { repository, text, number }: { repository: string; text: string; number: number },
): Promise<string | undefined> {
  const issue = await read(port, buildGet(`/repos/${repository}/issues/${number}`), issueForm)
  const isSaid = [...text.matchAll(closing)].some(([, each]) => Number(each) === number)
  return isSaid ? undefined : `${issue.pull_request ? 'For' : 'Closes'} #${number}`
}

const unsaid = (line: string | undefined, text: string): string | undefined =>
  line !== undefined && text.includes(line) ? undefined : line

/** The agent's words, what the pull request is for, and the session. */
async function bodyOf(port: PullRequestPort, asked: NewPullRequest): Promise<string> {
  const { repository, about, link, body, call } = asked
  const text = shortenedAnswer(quiet(withoutMarks(body.toWellFormed()).trim()), mostCharacters)
  const subject =
    'line' in about
      ? unsaid(about.line, text)
      : await issueLine(port, { repository, text, ...about })
  return [
    ...(text === '' ? [] : [text]),
    ...(subject === undefined ? [] : [subject]),
    ...(link === undefined ? [] : [`<sub>[Session](${link})</sub>`]),
    markOf({ id: call }, asked),
  ].join('\n\n')
}

const opened = ({ number, html_url: url }: Pull): OpenedPullRequest => ({ number, url })

export async function openOnGithub(
  port: PullRequestPort,
  asked: NewPullRequest,
): Promise<OpenedPullRequest> {
  try {
    return await open(port, asked)
  } catch (error) {
    if (error instanceof RefusedError) return { refused: error.message }
    throw error
  }
}

async function open(port: PullRequestPort, asked: NewPullRequest): Promise<OpenedPullRequest> {
  const { repository, branch } = asked
  const title = quiet(asked.title.replaceAll(/\s+/g, ' ').trim()).slice(0, mostTitle).toWellFormed()
  if (title === '') return { refused: 'title: is empty; say in one line what the change does' }
  const { default_branch } = await read(port, buildGet(`/repos/${repository}`), repositoryForm)
  const base = asked.base ?? default_branch
  if (branch === base)
    return {
      refused: `branch: is ${base}, into which it would be merged; push a branch of its own`,
    }
  const { own, other } = await findOwn(port, asked, base)
  if (own) return opened(own)
  if (other)
    return {
      refused: `The pull request #${other.number} is open for ${branch} already: ${other.html_url}. Push to ${branch} to change it.`,
    }
  if (!(await isPushed(port, asked)))
    return {
      refused: `branch: ${repository} has no branch ${branch}; push it first: git push origin HEAD:refs/heads/${branch}`,
    }
  const body = JSON.stringify({
    title,
    head: branch,
    base,
    body: await bodyOf(port, asked),
    draft: asked.draft,
  })
  const path = `/repos/${repository}/pulls`
  const answer = await port.sendOnce({ method: 'POST', path, headers: githubHeaders, body })
  return openedBy(answer) ?? lookAgain(port, asked, { base, answer })
}

function openedBy(answer: AnswerOutcome): OpenedPullRequest | undefined {
  if (!('status' in answer) || answer.status !== 201) return undefined
  const { data } = pullForm.safeParse(parsePayload(Buffer.from(answer.body)))
  return data && opened(data)
}

/** Whatever the answer was, the pull request may be there. */
async function lookAgain(
  port: PullRequestPort,
  asked: NewPullRequest,
  { base, answer }: { base: string; answer: AnswerOutcome },
): Promise<OpenedPullRequest> {
  const { own } = await findOwn(port, asked, base)
  if (own) return opened(own)
  const why =
    'status' in answer && answer.status < 500
      ? refusalOf(answer.status, parsePayload(Buffer.from(answer.body)))
      : 'GitHub did not answer. Call the tool again: it opens no second pull request.'
  return { refused: why }
}
