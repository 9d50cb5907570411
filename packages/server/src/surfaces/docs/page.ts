/** One page of the documentation, with the list of all pages and that of its own sections. */
import { Html, html } from '../../ground/http/html.ts'
import { linkBetween, pageOf, stylePath } from './addresses.ts'
import type { PageGroup } from './contents.ts'
import type { PageHeading, RenderedPage } from './markdown.ts'

export type PageFrame = {
  /** The address of the page. */
  at: string
  groups: readonly PageGroup[]
  /** The address of the page's source; undefined for a page without one. */
  source?: string
}

/** Fewer headings need no list. */
const listedFrom = 3

export function renderDocsPage(page: RenderedPage, { at, groups, source }: PageFrame): string {
  const to = (address: string) => linkBetween(at, address)
  const asMarkdown =
    source === undefined
      ? html``
      : html`<link rel="alternate" type="text/markdown" href="${to(source)}" />`
  const { text } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${page.title === 'Steward' ? '' : `${page.title} · `}Steward</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${to(stylePath)}" />
        ${asMarkdown}
      </head>
      <body>
        <a class="skip" href="#text">To the text</a>
        <header class="bar">
          <a class="home" href="${to('docs/')}">Steward</a>
          <a href="${to('docs')}">Endpoints</a>
          <a href="${to('console/')}">Console</a>
        </header>
        <div class="frame">
          <details class="pages">
            <summary>All pages</summary>
            ${listPages(at, groups)}
          </details>
          ${listSections(page.headings)}
          <main id="text">
            ${page.body}
            ${source === undefined ? '' : html`<footer><a href="${to(source)}">This page as Markdown</a></footer>`}
          </main>
        </div>
      </body>
    </html> `
  return text
}

function listPages(at: string, groups: readonly PageGroup[]): Html {
  const item = (file: string, label: string) => {
    const address = pageOf(file)
    const current = new Html(address === at ? ' aria-current="page"' : '')
    return html`<li><a href="${linkBetween(at, address)}" ${current}>${label}</a></li>`
  }
  const group = ({ title, pages }: PageGroup) =>
    html`<h2>${title}</h2>
      <ul>
        ${pages.map(({ file, label }) => item(file, label))}
      </ul>`
  return html`<nav aria-label="Pages">${groups.map(group)}</nav>`
}

function listSections(headings: readonly PageHeading[]): Html {
  const listed = headings.filter(({ depth }) => depth === 2 || depth === 3)
  if (listed.length < listedFrom) return html``
  const item = ({ depth, text, anchor }: PageHeading) =>
    html`<li${new Html(depth === 3 ? ' class="inner"' : '')}><a href="#${anchor}">${text}</a></li>`
  return html`<details class="sections">
    <summary>On this page</summary>
    <nav aria-label="Sections">
      <ul>
        ${listed.map(item)}
      </ul>
    </nav>
  </details>`
}
