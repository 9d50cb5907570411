/** What GitHub says of a pull request whose agent is to be woken. */
import { z } from 'zod'
import { beginningOf } from '../context-bounds.ts'
import type { Context, ContextSource } from '../context.ts'
import { sameName } from '../deliveries/listed-names.ts'
import type { App } from '../installations/app.ts'
import type { IncomingMessage, Notes } from '../integration.ts'
import { buildGet } from './calls.ts'

const pullForm = z.object({
  state: z.string(),
  user: z.object({ login: z.string() }).nullish(),
  head: z.object({ sha: z.string() }),
})
const checkRuns = z.object({
  check_runs: z.array(
    z.object({
      id: z.number(),
      name: z.string(),
      conclusion: z.string().nullish(),
      html_url: z.string().nullish(),
      output: z
        .object({
          title: z.string().nullish(),
          summary: z.string().nullish(),
          annotations_count: z.int().nullish(),
        })
        .nullish(),
    }),
  ),
})
const annotationsForm = z.array(
  z.object({
    path: z.string(),
    start_line: z.int().nullish(),
    annotation_level: z.string().nullish(),
    message: z.string().nullish(),
  }),
)
const remarksForm = z.array(
  z.object({
    path: z.string(),
    line: z.int().nullish(),
    original_line: z.int().nullish(),
    body: z.string(),
    user: z.object({ login: z.string() }).nullish(),
  }),
)

const failures = ['failure', 'timed_out']
const [mostChecks, mostAnnotated, mostAnnotations, mostRemarks] = [20, 3, 20, 100]

const pathOf = ({ repository, number }: Notes): string =>
  `/repos/${String(repository)}/pulls/${String(number)}`

/** A pull request that is closed, or that has newer commits, wakes nobody any more. */
export const whyNotWokenOnGithub: NonNullable<App['whyNotWoken']> = async (
  { ask, botUserId },
  { target, wake },
) => {
  const found = await ask({
    call: buildGet(pathOf(target)),
    form: pullForm,
    what: 'the pull request',
  })
  if (!found) return 'whose pull request it is was not read'
  const isOwn = botUserId !== null && sameName(found.user?.login ?? '', botUserId)
  if (wake.opener !== 'agent' && !isOwn) return 'the agent has not opened the pull request'
  if (found.state !== 'open') return 'the pull request is closed'
  const isOld = wake.kind !== 'changes_requested' && found.head.sha !== wake.head
  return isOld ? 'the pull request has newer commits' : undefined
}

/** The checks of the commit that have failed, and what the first of them say about lines. */
async function failedChecks(
  { ask }: ContextSource,
  repository: string,
  head: string,
): Promise<Context> {
  const path = `/repos/${repository}/commits/${encodeURIComponent(head)}/check-runs?filter=latest&status=completed&per_page=100`
  const found = await ask({ call: buildGet(path), form: checkRuns, what: 'the failed checks' })
  const failed = (found?.check_runs ?? []).filter(({ conclusion }) =>
    failures.includes(conclusion ?? ''),
  )
  const shown = failed.slice(0, mostChecks).map(async (run, index) => {
    const { id, name, conclusion = null, html_url = null, output } = run
    const isAnnotated = index < mostAnnotated && (output?.annotations_count ?? 0) > 0
    const annotations = isAnnotated
      ? await ask({
          call: buildGet(
            `/repos/${repository}/check-runs/${id}/annotations?per_page=${mostAnnotations}`,
          ),
          form: annotationsForm,
          what: 'annotations of a check',
        })
      : undefined
    return {
      name: beginningOf(name, 200),
      conclusion,
      url: html_url,
      ...(output?.title && { title: beginningOf(output.title, 500) }),
      ...(output?.summary && { summary: beginningOf(output.summary) }),
      ...(annotations?.length && {
        annotations: annotations.map((each) => ({
          path: each.path,
          line: each.start_line ?? null,
          level: each.annotation_level ?? null,
          text: beginningOf(each.message ?? '', 1_000),
        })),
      }),
    }
  })
  const left = failed.length - shown.length
  return {
    failed_checks: await Promise.all(shown),
    ...(left > 0 && { more_failed_checks: left }),
  }
}

async function remarksOf({ ask }: ContextSource, target: Notes, review: number): Promise<Context> {
  const path = `${pathOf(target)}/reviews/${review}/comments?per_page=${mostRemarks}`
  const found = await ask({
    call: buildGet(path),
    form: remarksForm,
    what: 'remarks of the review',
  })
  if (!found?.length) return {}
  return {
    review_remarks: found.map(({ path: file, line, original_line, body, user }) => ({
      author: user?.login ?? null,
      path: file,
      line: line ?? original_line ?? null,
      text: beginningOf(body),
    })),
  }
}

/** What has woken the agent. */
export async function contextOfWake(
  source: ContextSource,
  { target, wake }: Pick<IncomingMessage, 'target' | 'wake'>,
): Promise<Context> {
  if (wake?.kind === 'failed_checks')
    return failedChecks(source, String(target['repository']), wake.head)
  return wake?.review === undefined ? {} : remarksOf(source, target, wake.review)
}
