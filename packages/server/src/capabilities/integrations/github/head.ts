/** The head of a pull request on GitHub: which branch or commit its session works on. */
import { z } from 'zod'
import type { PullRequestHead } from '../code.ts'
import type { ContextSource } from '../context.ts'
import { sameName } from '../deliveries/listed-names.ts'
import type { Notes } from '../integration.ts'
import { buildGet } from './calls.ts'

const commit = z.string().regex(/^[\da-f]{40}$/)
const pullForm = z.object({
  state: z.string(),
  head: z.object({
    ref: z.string().min(1),
    sha: commit,
    /** Null where the fork was deleted. */
    repo: z.object({ full_name: z.string() }).nullable(),
  }),
  base: z.object({ repo: z.object({ full_name: z.string() }) }),
})

/**
 * Asks GitHub each time, because the payload of a comment on a pull request does not have the head. Undefined where
 * GitHub does not say.
 */
export async function githubHeadOf(
  { ask }: Pick<ContextSource, 'ask'>,
  { repository, number }: Notes,
): Promise<PullRequestHead | undefined> {
  const path = `/repos/${String(repository)}/pulls/${String(number)}`
  const found = await ask({
    call: buildGet(path),
    form: pullForm,
    what: 'the head of the pull request',
  })
  if (!found) return undefined
  const { state, head, base } = found
  return {
    branch: head.ref,
    commit: head.sha,
    isOpen: state === 'open',
    isOfFork: !sameName(head.repo?.full_name ?? '', base.repo.full_name),
  }
}
