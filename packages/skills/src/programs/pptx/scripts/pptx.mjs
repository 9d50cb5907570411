#!/usr/bin/env node
/** Reads, makes and changes presentations (.pptx). */
import { Refused, runCommands } from './lib/cli.mjs'
import { numbersIn, readText } from './lib/inputs.mjs'
import { openPackage } from './lib/package.mjs'
import { replaceIn } from './lib/replace.mjs'
import { below, child, childrenOf, element, textOf } from './lib/xml.mjs'
import { compose } from './compose.mjs'

const text = { type: 'string' }

function open(file) {
  const parts = openPackage(file)
  if (parts.tree(parts.main()).name !== 'p:presentation') throw new Refused(`${file} is no .pptx`)
  return parts
}

/** Parts of the slides, in the order in which they are shown. */
function slidesOf(parts) {
  const main = parts.main()
  const targets = new Map(parts.relations(main).map(({ id, target }) => [id, target]))
  const list = child(parts.tree(main), 'p:sldIdLst') ?? element('p:sldIdLst')
  return childrenOf(list, 'p:sldId').map((entry) => ({
    entry,
    name: targets.get(entry.attributes['r:id']),
  }))
}

const notesOf = (parts, name) =>
  parts.relations(name).find(({ type }) => type.endsWith('/notesSlide'))?.target

function paragraphsOf(shape) {
  return [...below(shape, 'a:p')]
    .map((each) => {
      const said = [...below(each, 'a:t', 'a:br')]
      const level = Number(child(each, 'a:pPr')?.attributes.lvl ?? 0)
      return { level, text: said.map((t) => (t.name === 'a:br' ? '\n' : textOf(t))).join('') }
    })
    .filter((each) => each.text.trim() !== '')
}

const kindOf = (shape) => [...below(shape, 'p:ph')][0]?.attributes.type

function shapesOf(tree) {
  const shapes = [...below(tree, 'p:sp', 'p:graphicFrame', 'p:pic')]
  const isTitle = (shape) => ['title', 'ctrTitle'].includes(kindOf(shape))
  return { titles: shapes.filter(isTitle), rest: shapes.filter((shape) => !isTitle(shape)) }
}

function markdownOf(parts, name, number) {
  const { titles, rest } = shapesOf(parts.tree(name))
  const lines = [
    `## Slide ${number}: ${titles
      .flatMap(paragraphsOf)
      .map((p) => p.text)
      .join(' ')}`.trimEnd(),
  ]
  for (const shape of rest) {
    const table = [...below(shape, 'a:tbl')][0]
    if (table) lines.push(...tableOf(table))
    else if (shape.name === 'p:pic') lines.push(pictureOf(shape))
    else if (!['sldNum', 'dt', 'ftr'].includes(kindOf(shape)))
      lines.push(...paragraphsOf(shape).map((p) => `${'  '.repeat(p.level)}- ${p.text}`))
  }
  const notes = notesOf(parts, name)
  const said = notes ? notesIn(parts.tree(notes)) : []
  if (said.length > 0) lines.push(`Notes: ${said.join(' ')}`)
  return lines.join('\n')
}

const notesIn = (tree) =>
  [...below(tree, 'p:sp')]
    .filter((shape) => kindOf(shape) === 'body')
    .flatMap(paragraphsOf)
    .map((p) => p.text)

const pictureOf = (shape) =>
  `[picture: ${[...below(shape, 'p:cNvPr')][0]?.attributes.descr || 'without a description'}]`

const tableOf = (table) =>
  childrenOf(table, 'a:tr').map(
    (row) =>
      `| ${childrenOf(row, 'a:tc')
        .map((cell) =>
          paragraphsOf(cell)
            .map((p) => p.text)
            .join(' '),
        )
        .join(' | ')} |`,
  )

function read(file, { slides }) {
  const parts = open(file)
  const all = slidesOf(parts)
  const wanted = slides ? numbersIn(slides, all.length) : all.keys()
  return [...wanted].map((index) => markdownOf(parts, all[index].name, index + 1)).join('\n\n')
}

function info(file) {
  const parts = open(file)
  return slidesOf(parts).map(({ name }, index) => {
    const tree = parts.tree(name)
    const { titles, rest } = shapesOf(tree)
    return {
      slide: index + 1,
      title: titles
        .flatMap(paragraphsOf)
        .map((p) => p.text)
        .join(' '),
      pictures: rest.filter((shape) => shape.name === 'p:pic').length,
      tables: [...below(tree, 'a:tbl')].length,
      has_notes: notesOf(parts, name) !== undefined,
      hidden: tree.attributes.show === '0',
    }
  })
}

function create(file, { from }) {
  if (!from) throw new Refused('--from is required: a Markdown file')
  const { parts, count } = compose(readText(from), from)
  if (count === 0) throw new Refused(`${from}: there is nothing for a slide in it`)
  parts.save(file)
  return `${file}: ${count} slides`
}

function replace(file, from, to, { out }) {
  if (from === '') throw new Refused('there is nothing to look for')
  const parts = open(file)
  let count = 0
  for (const { name } of slidesOf(parts))
    for (const part of [name, notesOf(parts, name)])
      if (part) count += replaceIn(parts.tree(part), 'a:p', 'a:t', { from, to })
  if (count === 0)
    throw new Refused(`${JSON.stringify(from)} is not in ${file}, or goes over paragraphs`)
  parts.save(out ?? file)
  return `${out ?? file}: ${count} replaced`
}

/** Slides left out are gone with what is theirs alone. */
function order(file, wanted, { out }) {
  const parts = open(file)
  const slides = slidesOf(parts)
  const indexes = numbersIn(wanted, slides.length)
  if (new Set(indexes).size < indexes.length) throw new Refused('a slide can be named once only')
  const main = parts.main()
  const list = child(parts.tree(main), 'p:sldIdLst')
  list.children = indexes.map((index) => slides[index].entry)
  const gone = slides.filter((_, index) => !indexes.includes(index))
  for (const { entry, name } of gone) {
    const relations = parts.tree(main.replace(/([^/]*)$/, '_rels/$1.rels'))
    relations.children = relations.children.filter(
      (each) => each.attributes?.Id !== entry.attributes['r:id'],
    )
    for (const part of [notesOf(parts, name), name]) {
      if (!part) continue
      parts.undeclare(part)
      parts.remove(part.replace(/([^/]*)$/, '_rels/$1.rels'))
      parts.remove(part)
    }
  }
  parts.save(out ?? file)
  return `${out ?? file}: ${indexes.length} slides`
}

await runCommands('pptx.mjs', {
  info: {
    usage: 'FILE',
    about: 'Title of each slide, and what is on it by numbers.',
    most: 1,
    run: ([file]) => info(file),
  },
  text: {
    usage: 'FILE [--slides 1,3-5]',
    about: 'Texts, tables and notes of the slides.',
    options: { slides: text },
    most: 1,
    run: ([file], options) => read(file, options),
  },
  create: {
    usage: 'FILE --from SLIDES.md',
    about: 'New slides from Markdown, with --- between them.',
    options: { from: text },
    most: 1,
    run: ([file], options) => create(file, options),
  },
  replace: {
    usage: 'FILE OLD NEW [--out FILE]',
    about: 'Replaces words on all slides and in their notes, and keeps the format.',
    options: { out: text },
    least: 3,
    most: 3,
    run: ([file, from, to], options) => replace(file, from, to, options),
  },
  order: {
    usage: 'FILE 3,1,4-6 [--out FILE]',
    about: 'Puts slides in this order; those that are not named are removed.',
    options: { out: text },
    least: 2,
    most: 2,
    run: ([file, wanted], options) => order(file, wanted, options),
  },
})
