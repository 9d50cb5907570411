/** The forms of GitHub's deliveries: the parts that are read. */
import { z } from 'zod'

const user = z.object({
  id: z.int().positive().optional(),
  login: z.string().min(1),
  type: z.string(),
})
const branch = z.object({
  ref: z.string(),
  sha: z.string().optional(),
  repo: z.object({ full_name: z.string() }).nullish(),
})
const post = z.object({
  id: z.int().positive().optional(),
  body: z.string().nullish(),
  user: user.nullish(),
  html_url: z.string().optional(),
  created_at: z.string().nullish(),
  updated_at: z.string().nullish(),
  submitted_at: z.string().nullish(),
  /** Of a review. */
  state: z.string().nullish(),
  /** Present when a program wrote under the name of a person. */
  performed_via_github_app: z.object({}).nullish(),
  /** Present in a comment on a line of a pull request. */
  path: z.string().nullish(),
  diff_hunk: z.string().nullish(),
  line: z.int().nullish(),
  original_line: z.int().nullish(),
  start_line: z.int().nullish(),
  side: z.string().nullish(),
  in_reply_to_id: z.int().positive().nullish(),
})
const thread = post.extend({
  number: z.int().positive(),
  title: z.string(),
  labels: z.array(z.object({ name: z.string() })).nullish(),
  /** Present when the issue is a pull request. */
  pull_request: z.object({}).nullish(),
  head: branch.nullish(),
  base: branch.nullish(),
})

export const payloadForm = z.object({
  sender: user,
  action: z.string().optional(),
  repository: z.object({ id: z.int().positive().optional(), full_name: z.string() }).optional(),
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
  check_suite: z
    .object({
      head_sha: z.string(),
      conclusion: z.string().nullish(),
      updated_at: z.string().nullish(),
      app: z.object({ slug: z.string().nullish(), name: z.string().nullish() }).nullish(),
      pull_requests: z
        .array(z.object({ number: z.int().positive(), head: z.object({ sha: z.string() }) }))
        .nullish(),
    })
    .optional(),
  requested_action: z.object({ identifier: z.string() }).nullish(),
})
export type Payload = z.infer<typeof payloadForm>
export type Post = z.infer<typeof post>
export type Thread = z.infer<typeof thread>

export const saidForm = payloadForm.pick({
  action: true,
  issue: true,
  comment: true,
  review: true,
  repository: true,
})
