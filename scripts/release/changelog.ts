/** What the changelog says of one version. */

/** The line that each version's part begins with: whether its upgrade needs a stop or a backup. */
const needs = /^Upgrade: .*\bstop\b.*\bbackup\b.*$/im

/**
 * The part of a version, without its heading. Throws where the changelog has none, or where it does not say what an
 * upgrade needs.
 */
export function partOf(changelog: string, heading: string): string {
  const parts = changelog.split(/^## /m).slice(1)
  const part = parts.find((each) => each.split('\n')[0]?.split(' ')[0] === heading)
  if (part === undefined) throw new Error(`CHANGELOG.md has no part named ${heading}`)
  const text = part.slice(part.indexOf('\n')).trim()
  if (!needs.test(text))
    throw new Error(
      `the part ${heading} of CHANGELOG.md does not say what an upgrade needs: begin it with a line such as "Upgrade: without a stop on Postgres, and no backup is needed."`,
    )
  return `${text}\n`
}
