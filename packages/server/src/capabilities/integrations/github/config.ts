/** What of a publication the deliveries of GitHub are read by. */
import type { KnownIds } from '../../../ground/database/tables/integrations.ts'

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
  /** Whether comments without a mention count in threads that the agent has joined. */
  followUps?: boolean
}
