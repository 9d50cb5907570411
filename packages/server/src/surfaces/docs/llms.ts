/** The documentation for programs that read text: the list of its pages, and all of them as one. */
import type { PageGroup } from './contents.ts'

export type LlmsText = {
  groups: readonly PageGroup[]
  /** Decision records, which a reader may leave out. */
  records: readonly PageGroup[]
  /** The steps of an installation, as Markdown without headings. */
  install: string
  /** The URL of a file. */
  urlOf: (file: string) => string
}

const summary = `# Steward

> Steward is an open-source, self-hosted, multi-tenant service for running AI agents: an API for agents and sessions that the clients of Anthropic and OpenAI use unmodified, a sandbox for each session, a vault for credentials, and a web console.

Each page below is Markdown. People read the same pages at \`/docs/\`.`

/** Follows the convention of llmstxt.org. */
export function llmsText({ groups, records, install, urlOf }: LlmsText): string {
  const list = ({ title, pages }: PageGroup) => {
    const lines = pages.map(({ file, label, about }) => `- [${label}](${urlOf(file)}): ${about}`)
    return `## ${title}\n\n${lines.join('\n')}`
  }
  const optional = { title: 'Optional', pages: records.flatMap(({ pages }) => pages) }
  return [summary, install, ...groups.map(list), list(optional)].join('\n\n').concat('\n')
}

/** The text below a heading of the second level, until the next one. */
export function sectionOf(markdown: string, heading: string): string {
  const [, rest = ''] = markdown.split(`\n## ${heading}\n`)
  return rest.split('\n## ')[0]?.trim() ?? ''
}
