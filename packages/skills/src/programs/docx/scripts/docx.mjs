#!/usr/bin/env node
/** Reads, makes and changes Word documents (.docx). */
import { Refused, runCommands } from './lib/cli.mjs'
import { readText } from './lib/inputs.mjs'
import { begin, openPackage } from './lib/package.mjs'
import { below, child, element, textOf } from './lib/xml.mjs'
import { compose } from './compose.mjs'
import { markdownOf } from './read.mjs'
import { replaceIn } from './lib/replace.mjs'
import { documentType, wordNames } from './styles.mjs'

const text = { type: 'string' }
const papers = { a4: ['11906', '16838'], letter: ['12240', '15840'] }

function open(file) {
  const parts = openPackage(file)
  if (parts.tree(parts.main()).name !== 'w:document') throw new Refused(`${file} is no .docx`)
  return parts
}

function create(file, { from, paper = 'a4' }) {
  if (!from) throw new Refused('--from is required: a Markdown file')
  if (!Object.hasOwn(papers, paper)) throw new Refused('--paper is a4 or letter')
  const parts = begin('word/document.xml', documentType)
  const body = element('w:body')
  parts.setTree('word/document.xml', element('w:document', { 'xmlns:w': wordNames }, [body]))
  const [width, height] = papers[paper]
  const edges = Object.fromEntries(
    ['top', 'right', 'bottom', 'left'].map((side) => [`w:${side}`, '1440']),
  )
  body.children = [
    ...compose(parts, readText(from), from),
    element('w:sectPr', {}, [
      element('w:pgSz', { 'w:w': width, 'w:h': height }),
      element('w:pgMar', { ...edges, 'w:header': '720', 'w:footer': '720', 'w:gutter': '0' }),
    ]),
  ]
  parts.save(file)
  return `${file}: ${body.children.length - 1} blocks`
}

function append(file, { from, out }) {
  if (!from) throw new Refused('--from is required: a Markdown file')
  const parts = open(file)
  const body = child(parts.tree(parts.main()), 'w:body')
  const made = compose(parts, readText(from), from)
  // What describes the last section is the last in the body.
  const last = body.children.findLastIndex((each) => each.name === 'w:sectPr')
  body.children.splice(last < 0 ? body.children.length : last, 0, ...made)
  parts.save(out ?? file)
  return `${out ?? file}: ${made.length} blocks more`
}

const isText = (name) => /^word\/(document|header\d*|footer\d*|footnotes|endnotes)\.xml$/.test(name)

function replace(file, from, to, { out }) {
  if (from === '') throw new Refused('there is nothing to look for')
  const parts = open(file)
  const trees = new Set([parts.main(), ...parts.names().filter(isText)])
  let count = 0
  for (const name of trees) count += replaceIn(parts.tree(name), 'w:p', 'w:t', { from, to })
  if (count === 0)
    throw new Refused(`${JSON.stringify(from)} is not in ${file}, or goes over paragraphs`)
  parts.save(out ?? file)
  return `${out ?? file}: ${count} replaced`
}

function info(file) {
  const parts = open(file)
  const tree = parts.tree(parts.main())
  const count = (...names) => [...below(tree, ...names)].length
  const core = parts.has('docProps/core.xml') ? parts.tree('docProps/core.xml') : element('none')
  const said = (name) => {
    const found = child(core, name)
    return found ? textOf(found) : null
  }
  const words = [...below(tree, 'w:p')]
    .map((each) => [...below(each, 'w:t')].map(textOf).join(''))
    .join(' ')
  return {
    title: said('dc:title'),
    author: said('dc:creator'),
    changed: said('dcterms:modified'),
    paragraphs: count('w:p'),
    tables: count('w:tbl'),
    pictures: count('w:drawing', 'w:pict'),
    words: words.split(/\s+/).filter((word) => word !== '').length,
    comments: count('w:commentReference'),
    tracked_changes: count('w:ins', 'w:del'),
  }
}

await runCommands('docx.mjs', {
  info: {
    usage: 'FILE',
    about: 'What is in a document, by numbers.',
    most: 1,
    run: ([file]) => info(file),
  },
  text: {
    usage: 'FILE',
    about: 'The document as Markdown: headings, lists, tables, links, bold and italic.',
    most: 1,
    run: ([file]) => markdownOf(open(file)),
  },
  create: {
    usage: 'FILE --from TEXT.md [--paper a4|letter]',
    about: 'A new document from Markdown. --- begins a new page.',
    options: { from: text, paper: text },
    most: 1,
    run: ([file], options) => create(file, options),
  },
  append: {
    usage: 'FILE --from TEXT.md [--out FILE]',
    about: "Adds Markdown at the end, in the document's own styles.",
    options: { from: text, out: text },
    most: 1,
    run: ([file], options) => append(file, options),
  },
  replace: {
    usage: 'FILE OLD NEW [--out FILE]',
    about: 'Replaces words everywhere, in headers, footers and notes too, and keeps the format.',
    options: { out: text },
    least: 3,
    most: 3,
    run: ([file, from, to], options) => replace(file, from, to, options),
  },
})
