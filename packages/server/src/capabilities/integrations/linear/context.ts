/** The context of a request in Linear: the issue with its comments, and what it belongs to. */
import { z } from 'zod'
import { beginningOf, boundedEntries } from '../context-bounds.ts'
import type { Context, GatherContext } from '../context.ts'
import type { App } from '../installations/app.ts'
import { lowerCase } from '../deliveries/listed-names.ts'
import { graphqlCall } from './query.ts'

const commentFields = `nodes {
  id body createdAt parent { id } user { id name } botActor { name } externalUser { name }
}`

const issueQuery = `query($id: String!) { issue(id: $id) {
  description priorityLabel dueDate branchName
  state { name } assignee { name } creator { name }
  labels(first: 50) { nodes { name } }
  project { name description url } projectMilestone { name } cycle { name number }
  parent { identifier title url state { name } }
  children(first: 50) { nodes { identifier title state { name } } }
  attachments(first: 50) { nodes { title subtitle url } }
  comments(first: 100) { ${commentFields} }
} }`

const newCommentsQuery = `query($id: String!, $since: DateTimeOrDuration!) { issue(id: $id) {
  comments(first: 100, filter: { createdAt: { gt: $since } }) { ${commentFields} }
} }`

const named = z.object({ name: z.string() }).nullish()
const comment = z.object({
  id: z.string(),
  body: z.string(),
  createdAt: z.string(),
  parent: z.object({ id: z.string() }).nullish(),
  user: z.object({ id: z.string(), name: z.string() }).nullish(),
  botActor: z.object({ name: z.string().nullish() }).nullish(),
  externalUser: named,
})
type LinearComment = z.infer<typeof comment>
const comments = z.object({ nodes: z.array(comment) })
const issueForm = z.object({
  data: z.object({
    issue: z.object({
      description: z.string().nullish(),
      priorityLabel: z.string().nullish(),
      dueDate: z.string().nullish(),
      branchName: z.string().nullish(),
      state: named,
      assignee: named,
      creator: named,
      labels: z.object({ nodes: z.array(z.object({ name: z.string() })) }),
      project: z
        .object({ name: z.string(), description: z.string().nullish(), url: z.string().nullish() })
        .nullish(),
      projectMilestone: named,
      cycle: z.object({ name: z.string().nullish(), number: z.number().nullish() }).nullish(),
      parent: z
        .object({ identifier: z.string(), title: z.string(), url: z.string(), state: named })
        .nullish(),
      children: z.object({
        nodes: z.array(z.object({ identifier: z.string(), title: z.string(), state: named })),
      }),
      attachments: z.object({
        nodes: z.array(
          z.object({ title: z.string(), subtitle: z.string().nullish(), url: z.string() }),
        ),
      }),
      comments,
    }),
  }),
})
const newForm = z.object({ data: z.object({ issue: z.object({ comments }) }) })

const commentCharacters = 50_000

function shownComments(all: readonly LinearComment[]): Context {
  const sorted = all.toSorted(
    (one, other) => Date.parse(one.createdAt) - Date.parse(other.createdAt),
  )
  const shown = sorted.map(({ id, user, botActor, externalUser, body, createdAt, parent }) => ({
    id,
    author: user?.name ?? externalUser?.name ?? botActor?.name ?? null,
    at: createdAt,
    ...(parent && { answers: parent.id }),
    text: beginningOf(body),
  }))
  return shown.length > 0 ? { comments: boundedEntries(shown, commentCharacters) } : {}
}

type LinearIssue = z.infer<typeof issueForm>['data']['issue']

const short = (text: string): string => beginningOf(text, 500)

function about(issue: LinearIssue): Context {
  const { state, assignee, creator, labels, projectMilestone, priorityLabel, dueDate } = issue
  return {
    ...(issue.description && { description: beginningOf(issue.description, 20_000) }),
    ...(state && { state: state.name }),
    ...(priorityLabel && { priority: priorityLabel }),
    ...(creator && { creator: creator.name }),
    ...(assignee && { assignee: assignee.name }),
    ...(labels.nodes.length > 0 && { labels: labels.nodes.map(({ name }) => short(name)) }),
    ...(dueDate && { due: dueDate }),
    ...(issue.branchName && { branch: issue.branchName }),
    ...(projectMilestone && { milestone: short(projectMilestone.name) }),
  }
}

function relatives({ project, parent, children, attachments }: LinearIssue): Context {
  const nodes = children.nodes.map(({ identifier, title, state }) => ({
    issue: identifier,
    title: short(title),
    ...(state && { state: state.name }),
  }))
  return {
    ...(project && {
      project: {
        name: short(project.name),
        ...(project.description && { description: beginningOf(project.description) }),
        url: project.url ?? null,
      },
    }),
    ...(parent && {
      parent: {
        issue: parent.identifier,
        title: short(parent.title),
        url: parent.url,
        ...(parent.state && { state: parent.state.name }),
      },
    }),
    ...(nodes.length > 0 && { sub_issues: nodes }),
    ...(attachments.nodes.length > 0 && {
      attachments: attachments.nodes.map(({ title, subtitle, url }) => ({
        title: short(title),
        ...(subtitle && { subtitle: short(subtitle) }),
        url: beginningOf(url, 1_000),
      })),
    }),
  }
}

/** A session that goes on reads the comments since its last message, and not those of the app. */
export const gatherLinear: GatherContext = async ({ ask, since, botUserId }, { target }) => {
  const { issue_id: id } = target
  if (typeof id !== 'string') return { context: {} }
  if (since !== null) {
    const call = graphqlCall(newCommentsQuery, { id, since })
    const found = await ask({ call, form: newForm, what: 'new comments' })
    const others = (found?.data.issue.comments.nodes ?? []).filter(
      ({ user }) => user?.id !== botUserId,
    )
    return { context: shownComments(others) }
  }
  const call = graphqlCall(issueQuery, { id })
  const found = await ask({ call, form: issueForm, what: 'the issue and its comments' })
  if (!found) return { context: {} }
  const { issue } = found.data
  return {
    context: { ...about(issue), ...relatives(issue), ...shownComments(issue.comments.nodes) },
  }
}

const userQuery = `query($id: String!) { user(id: $id) {
  active guest app teams(first: 100) { nodes { key } }
} }`
const userForm = z.object({
  data: z.object({
    user: z.object({
      active: z.boolean(),
      guest: z.boolean(),
      app: z.boolean(),
      teams: z.object({ nodes: z.array(z.object({ key: z.string() })) }),
    }),
  }),
})

export const mayCallOnLinear: NonNullable<App['mayCall']> = async (source, { user: id, team }) => {
  const { members = null } = source.spec.linear ?? {}
  if (typeof id !== 'string' || typeof team !== 'string' || members === null) return false
  const call = graphqlCall(userQuery, { id })
  const what = 'whether the author is a member'
  const found = await source.remembered(`user/${id}`, () =>
    source.ask({ call, form: userForm, what }),
  )
  if (!found) return false
  const { active, guest, app, teams } = found.data.user
  if (!active || guest || app) return false
  return (
    members === 'workspace' || teams.nodes.some(({ key }) => lowerCase(key) === lowerCase(team))
  )
}
