/** Links in the Markdown of the repository. */
import { dirname, join, normalize } from 'node:path'
import { createAnchors } from '@steward/server/surfaces/docs/anchors.ts'

const withoutBlocks = (markdown: string) => markdown.replace(/^ *```[^]*?^ *```$/gm, '')
const withoutCode = (markdown: string) => withoutBlocks(markdown).replace(/`[^`\n]*`/g, '')

export function anchorsOf(markdown: string): Set<string> {
  const anchorOf = createAnchors()
  const headings = withoutBlocks(markdown).matchAll(/^#+ (.+)$/gm)
  return new Set([...headings].map(([, heading = '']) => anchorOf(heading)))
}

export type PageLink = { page: string; target: string; path: string; anchor: string | undefined }

/** Relative links; `path` counts from the root of the repository. */
export function linksOf(page: string, markdown: string): PageLink[] {
  const targets = [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => to)
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = '', anchor] = target.split('#')
      const path = file === '' ? page : normalize(join(dirname(page), file))
      return { page, target, path, anchor }
    })
}
