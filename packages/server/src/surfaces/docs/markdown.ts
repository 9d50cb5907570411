/** Pages of the documentation from Markdown. Markup within Markdown is shown as text. */
import type { Tokens } from 'marked'
import { lexer, Parser, Renderer } from 'marked'
import { Html, html } from '../../ground/http/html.ts'
import { createAnchors } from './anchors.ts'

export type PageHeading = { depth: number; text: string; anchor: string }
export type RenderedPage = { title: string; body: Html; headings: PageHeading[] }

/** Links of the page to files, by the paths that its source gives; undefined for a file that is not served. */
export type PageLinks = {
  linkTo: (path: string) => string | undefined
  /** The picture that takes the place of this one in the dark theme. */
  darkPicture: (path: string) => string | undefined
}

export function renderMarkdown(markdown: string, links: PageLinks): RenderedPage {
  const renderer = new PageRenderer(links)
  const body = new Html(Parser.parse(lexer(markdown), { renderer }))
  const { headings } = renderer
  return { title: headings.find(({ depth }) => depth === 1)?.text ?? 'Steward', body, headings }
}

const requirementId = /\[[a-z0-9-]+(?:\/[a-z0-9-]+)+\]/g

class PageRenderer extends Renderer {
  readonly headings: PageHeading[] = []
  readonly #anchorOf = createAnchors()
  readonly #links: PageLinks

  constructor(links: PageLinks) {
    super()
    this.#links = links
  }

  override heading({ depth, text: source, tokens }: Tokens.Heading): string {
    const anchor = this.#anchorOf(source)
    const text = this.parser.parseInline(tokens, this.parser.textRenderer)
    this.headings.push({ depth, text, anchor })
    const tag = new Html(`h${depth}`)
    return html`<${tag} id="${anchor}">${new Html(this.parser.parseInline(tokens))} <a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a></${tag}>\n`
      .text
  }

  override link({ href, tokens }: Tokens.Link): string {
    const text = new Html(this.parser.parseInline(tokens))
    if (/^(?:https?|mailto):/.test(href)) return html`<a href="${href}">${text}</a>`.text
    const target = this.#target(href)
    if (target !== undefined) return html`<a href="${target}">${text}</a>`.text
    return html`<span class="source" title="${href}, in the repository">${text}</span>`.text
  }

  override image({ href, text }: Tokens.Image): string {
    const target = this.#target(href)
    if (target === undefined) return html`${text}`.text
    const picture = html`<img src="${target}" alt="${text}" loading="lazy" />`
    const dark = this.#links.darkPicture(href)
    if (dark === undefined) return picture.text
    const source = html`<source srcset="${dark}" media="(prefers-color-scheme: dark)" />`
    return html`<picture>${source}${picture}</picture>`.text
  }

  /** Comments mark what programs write. */
  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return html`${text.replaceAll(/<!--[^]*?-->/g, '')}`.text
  }

  /** Sets the ids of requirements apart from the sentences that they end. */
  override text(token: Tokens.Text | Tokens.Escape): string {
    const text = super.text(token)
    if ('tokens' in token) return text
    return text.replaceAll(requirementId, '<span class="requirement">$&</span>')
  }

  override table(token: Tokens.Table): string {
    return `<div class="table" tabindex="0">${super.table(token)}</div>`
  }

  override code(token: Tokens.Code): string {
    return super.code(token).replace('<pre>', '<pre tabindex="0">')
  }

  #target(href: string): string | undefined {
    const [path = '', anchor] = href.split('#')
    const target = path === '' ? '' : this.#links.linkTo(path)
    if (target === undefined || anchor === undefined) return target
    return `${target}#${anchor}`
  }
}
