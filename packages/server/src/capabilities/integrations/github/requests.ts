/** What calls an agent on GitHub: mentions, comments without one, assignments, labels and requested reviews. */
import { sameName } from '../deliveries/listed-names.ts'
import type { CallOfAgent, GithubConfig } from './config.ts'
import { mentionsFirst, mentionsLogin } from './mentions.ts'
import type { Payload, Post } from './payload.ts'

/** Returns undefined when nothing calls the agent. An edit calls nobody, because the first version of the text did. */
export function requestOf(payload: Payload, config: GithubConfig): CallOfAgent | undefined {
  const { action, issue, pull_request, comment, review, assignee, label } = payload
  const fromSender = (text: string): CallOfAgent => ({
    author: payload.sender.login,
    text,
    isByApp: false,
    at: (issue ?? pull_request)?.updated_at,
  })
  switch (action) {
    case 'created':
      return mentionIn(comment, config) ?? followUpIn(comment, config)
    case 'submitted':
      return mentionIn(review, config)
    case 'opened':
      return mentionIn(issue ?? pull_request, config)
    case 'assigned':
      return assignee && config.assignee !== null && sameName(assignee.login, config.assignee)
        ? { ...fromSender('This is assigned to you: work on it.'), isForAny: true }
        : undefined
    case 'labeled':
      return label && config.labels.some((each) => sameName(each, label.name))
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
  return [...reviewers, assignee].some(
    (each) => each !== null && asked.some((other) => other !== undefined && sameName(other, each)),
  )
}

function mentionIn(found: Post | undefined, config: GithubConfig): CallOfAgent | undefined {
  if (!found?.body || config.mention === null) return undefined
  if (!mentionsLogin(found.body, config.mention)) return undefined
  const isByApp = Boolean(found.performed_via_github_app)
  const at = found.submitted_at ?? found.created_at
  return { author: found.user?.login, text: found.body, isByApp, at, isForAny: true }
}

/** A comment that begins with a mention is for somebody else. */
function followUpIn(found: Post | undefined, config: GithubConfig): CallOfAgent | undefined {
  if (!config.followUps || !found?.body || mentionsFirst(found.body)) return undefined
  const isByApp = Boolean(found.performed_via_github_app)
  const { user, body: text, created_at: at } = found
  return { author: user?.login, text, isByApp, at, isForAny: true, isFollowUp: true }
}
