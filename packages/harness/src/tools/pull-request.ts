/** The tool with which an agent opens a pull request. The service opens it, so the agent sees no credential. */
import { z } from 'zod'
import { objectSchema, textSchema } from './threads.ts'
import type { Tool, ToolResult } from './tool.ts'
import { textResult } from './tool.ts'

/** `base`: undefined for the default branch. */
export type PullRequestRequest = {
  title: string
  body: string
  branch: string
  base: string | undefined
  draft: boolean
}

/** `refused`: why there is none, and what the agent can do. */
export type PullRequestOutcome = { number: number; url: string } | { refused: string }

/**
 * Opens a pull request once for each `call`: a second run of the same call finds what the first one has opened. Never
 * throws for what the provider answers.
 */
export type OpenPullRequest = (
  asked: PullRequestRequest,
  options: { call: string; signal: AbortSignal },
) => Promise<PullRequestOutcome>

/** The name is reserved in `toolsetTools` of the protocol. */
export const pullRequestToolName = 'open_pull_request'

const Input = z.object({
  title: z.string(),
  body: z.string(),
  branch: z.string(),
  base: z.string().optional(),
  draft: z.boolean().optional(),
})

const input = objectSchema(
  {
    title: { ...textSchema('One line that says what the change does.'), minLength: 1 },
    body: textSchema(
      'Markdown for the people who review: what changes, why, and how it was tested. A link to what it is about is added for you.',
    ),
    branch: {
      ...textSchema('The name of the branch with your commits, which you have pushed.'),
      minLength: 1,
    },
    base: textSchema('The branch to merge into. Left out: the default branch.'),
    draft: { type: 'boolean', description: 'True while it is not ready for review.' },
  },
  ['title', 'body', 'branch'],
)

export const pullRequestTool = (open: OpenPullRequest): Omit<Tool, 'permission'> => ({
  ...({ name: pullRequestToolName, runs: 'here', input: 'checked', repeat: 'safe' } as const),
  // A call waits for commands of the same answer, one of which may push the branch.
  ...({ sandbox: 'read', prepare() {} } as const),
  description:
    'Opens a pull request from a branch of the repository that you work on here. Commit your work to a branch of its own and push it before: git push origin HEAD:refs/heads/BRANCH. Later pushes to the branch change the pull request. A second call for the same branch opens no second one.',
  input_schema: input,
  async run(given, { call, signal }): Promise<ToolResult> {
    if (call === undefined) throw new Error('a pull request is opened in a turn alone')
    const { title, body, branch, base, draft = false } = Input.parse(given)
    const outcome = await open({ title, body, branch, base, draft }, { call, signal })
    return 'refused' in outcome
      ? textResult(outcome.refused, true)
      : textResult(JSON.stringify(outcome))
  },
})
