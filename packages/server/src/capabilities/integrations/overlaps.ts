/** Publications of one installation that could hear the same delivery. */
import { invalid } from '../../ground/core/errors.ts'
import { sameName } from './deliveries/listed-names.ts'
import { slackConfigOf } from './slack/slack.ts'
import type { PublicationRow } from './store.ts'

const common = (some: readonly string[] = [], others: readonly string[] = []): string | undefined =>
  some.find((each) => others.some((other) => sameName(each, other)))

/** What both serve, with the field that says so. */
function sharedBy(
  { spec: own }: PublicationRow,
  { spec: other }: PublicationRow,
): { field: string; what: string } | undefined {
  const repository = common(own.github?.repositories, other.github?.repositories)
  if (repository !== undefined) return { field: 'github.repositories', what: repository }
  const team = common(own.linear?.teams, other.linear?.teams)
  if (team !== undefined) return { field: 'linear.teams', what: `the team ${team}` }
  if (!own.slack || !other.slack) return undefined
  const channel = common(own.slack.channels, other.slack.channels)
  if (channel !== undefined) return { field: 'slack.channels', what: `the channel ${channel}` }
  const hears = [own.slack, other.slack].every((each) => slackConfigOf(each).direct_messages)
  return hears ? { field: 'slack.direct_messages', what: 'direct messages' } : undefined
}

const hasSameName = ({ spec: own }: PublicationRow, { spec: other }: PublicationRow): boolean =>
  own.name && other.name ? sameName(own.name, other.name) : !own.name && !other.name

/** Throws where people could not tell the new publication from another. */
export function checkOverlaps(own: PublicationRow, others: readonly PublicationRow[]): void {
  for (const other of others) {
    const shared = sharedBy(own, other)
    if (!shared) continue
    const { field, what } = shared
    const { name: word } = own.spec
    if (hasSameName(own, other))
      throw invalid(
        word
          ? `name: ${other.id} serves ${what} by the name ${word} already; choose another`
          : `${field}: ${other.id} serves ${what} already; give this publication a name, by which people call its agent`,
      )
    for (const name of ['labels', 'reviewers'] as const) {
      const taken = common(own.spec.github?.[name], other.spec.github?.[name])
      if (taken !== undefined)
        throw invalid(`github.${name}: ${taken} calls the agent of ${other.id} in ${what} already`)
    }
  }
}
