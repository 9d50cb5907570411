/** What of a publication the deliveries of GitHub are read by, and what calls its agent. */
import type { WakeKind } from '@steward/protocol/integrations.ts'
import type { KnownIds, Wake } from '../../../ground/database/tables/integrations.ts'

export type GithubConfig = {
  /**
   * Full names, such as `acme/shop`. An app has one secret for all installations, so a valid signature does not show
   * which repository may send.
   */
  repositories: readonly string[]
  /** Logins of people whose requests reach the agent. */
  authors: readonly string[]
  /** The least access to the repository with which people call the agent. Null: `authors` and `teams` alone call it. */
  access?: string | null
  /** Slugs of teams whose members call the agent. */
  teams?: readonly string[]
  known?: KnownIds | null
  /** The login whose mention, and the login whose assignment, calls the agent. */
  mention: string | null
  assignee: string | null
  labels: readonly string[]
  /** Logins and slugs of teams. A review that is requested from one of them calls the agent. */
  reviewers: readonly string[]
  /** What wakes the agent on its own pull requests. */
  wakes?: readonly WakeKind[]
  /** Whether comments without a mention count in threads that the agent has joined. */
  followUps?: boolean
}

export type CallOfAgent = {
  author: string | undefined
  text: string
  isByApp: boolean
  /** True when the answer is a review. */
  isReview?: boolean
  /** True for a mention or an assignment, which calls the app and not one of its agents. */
  isForAny?: boolean
  /** True for a comment that mentions nobody. */
  isFollowUp?: boolean
  /** What has happened to a pull request of the agent. */
  wake?: Omit<Wake, 'pull_request'>
  /** True where nobody asks, so that nobody has to be allowed. */
  isOfService?: boolean
  /** A time before the first answer. */
  at: string | null | undefined
}
