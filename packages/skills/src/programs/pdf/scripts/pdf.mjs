#!/usr/bin/env node
/** Reads, makes, joins, cuts and fills PDF files. */
import { writeFileSync } from 'node:fs'
import { Refused, runCommands } from './lib/cli.mjs'
import { numbersIn, readBytes, readJson, readText } from './lib/inputs.mjs'
import { PDFDocument, StandardFonts, degrees, rgb } from './lib/pdf-lib.mjs'
import { compose } from './compose.mjs'
import { fieldsOf, fill } from './fields.mjs'
import { textOf } from './text.mjs'

const text = { type: 'string' }
const flag = { type: 'boolean' }

async function open(file) {
  const bytes = readBytes(file)
  try {
    return await PDFDocument.load(bytes)
  } catch (error) {
    if (/encrypted/i.test(error.message))
      throw new Refused(`${file} is encrypted, and cannot be changed; its text may be readable`)
    throw new Refused(`${file} is no PDF that can be read: ${error.message}`)
  }
}

async function save(pdf, file) {
  writeFileSync(file, await pdf.save())
  return `${file}: ${pdf.getPageCount()} pages`
}

async function info(file) {
  const pdf = await open(file)
  return {
    pages: pdf.getPageCount(),
    sizes: [
      ...new Set(
        pdf.getPages().map((page) => {
          const { width, height } = page.getSize()
          return `${Math.round(width)} x ${Math.round(height)}`
        }),
      ),
    ],
    title: pdf.getTitle() ?? null,
    author: pdf.getAuthor() ?? null,
    fields: pdf.getForm().getFields().length,
  }
}

async function read(file, { pages, password, json }) {
  const all = await textOf(file, { pages, password })
  if (all.every((page) => page.text === ''))
    process.stderr.write(`${file}: there is no text on these pages; they may be pictures of text\n`)
  if (json) return all
  return all.map((page) => `--- page ${page.page} ---\n${page.text}`).join('\n\n')
}

async function create(file, { from, paper = 'a4', replace, numbers, title }) {
  if (!from) throw new Refused('--from is required: a Markdown file')
  const options = { from, paper, isReplacing: replace === true, isNumbered: numbers === true }
  const pdf = await compose(readText(from), options)
  if (title) pdf.setTitle(title)
  return save(pdf, file)
}

async function merge(out, files) {
  const made = await PDFDocument.create()
  for (const file of files) {
    const from = await open(file)
    for (const page of await made.copyPages(from, from.getPageIndices())) made.addPage(page)
  }
  return save(made, out)
}

async function pages(file, wanted, { out }) {
  if (!out) throw new Refused('--out is required')
  const from = await open(file)
  const made = await PDFDocument.create()
  const indexes = numbersIn(wanted, from.getPageCount())
  for (const page of await made.copyPages(from, indexes)) made.addPage(page)
  return save(made, out)
}

async function rotate(file, angle, { pages: wanted, out }) {
  const turn = Number(angle)
  if (!Number.isInteger(turn / 90)) throw new Refused('the angle is 90, 180 or 270')
  const pdf = await open(file)
  const all = pdf.getPages()
  for (const index of wanted ? numbersIn(wanted, all.length) : all.keys()) {
    const page = all[index]
    page.setRotation(degrees((((page.getRotation().angle + turn) % 360) + 360) % 360))
  }
  return save(pdf, out ?? file)
}

async function fillIn(file, { values, out, flat }) {
  if (!values)
    throw new Refused('--values is required: a JSON file with an object of names and answers')
  const pdf = await open(file)
  fill(pdf, readJson(values), { isFlat: flat === true })
  return save(pdf, out ?? file)
}

async function stamp(file, said, { pages: wanted, out, size = '48' }) {
  const pdf = await open(file)
  const font = await pdf.embedFont(StandardFonts.HelveticaBold)
  const all = pdf.getPages()
  for (const index of wanted ? numbersIn(wanted, all.length) : all.keys()) {
    const { width, height } = all[index].getSize()
    const long = font.widthOfTextAtSize(said, Number(size))
    const half = (long / 2) * Math.SQRT1_2
    const place = { x: width / 2 - half, y: height / 2 - half, rotate: degrees(45) }
    const look = { size: Number(size), font, color: rgb(0.6, 0.6, 0.6), opacity: 0.4 }
    all[index].drawText(said, { ...place, ...look })
  }
  return save(pdf, out ?? file)
}

await runCommands('pdf.mjs', {
  info: {
    usage: 'FILE',
    about: 'Pages, sizes, title, form fields.',
    most: 1,
    run: ([file]) => info(file),
  },
  text: {
    usage: 'FILE [--pages 1,3-5] [--json] [--password WORD]',
    about: 'The text of the pages, line by line; columns of a table are apart by tabs.',
    options: { pages: text, json: flag, password: text },
    most: 1,
    run: ([file], options) => read(file, options),
  },
  create: {
    usage: 'FILE --from TEXT.md [--paper a4|letter] [--numbers] [--title TITLE] [--replace]',
    about: 'A new file from Markdown. --numbers puts numbers on the pages.',
    options: { from: text, paper: text, numbers: flag, title: text, replace: flag },
    most: 1,
    run: ([file], options) => create(file, options),
  },
  merge: {
    usage: 'OUT FILE...',
    about: 'Joins files into one.',
    least: 2,
    run: ([out, ...files]) => merge(out, files),
  },
  pages: {
    usage: 'FILE 1,3-5 --out FILE',
    about: 'A file of these pages in this order.',
    options: { out: text },
    least: 2,
    most: 2,
    run: ([file, wanted], options) => pages(file, wanted, options),
  },
  rotate: {
    usage: 'FILE 90 [--pages 1,3-5] [--out FILE]',
    about: 'Turns pages clockwise.',
    options: { pages: text, out: text },
    least: 2,
    most: 2,
    run: ([file, angle], options) => rotate(file, angle, options),
  },
  fields: {
    usage: 'FILE',
    about: 'The fields of a form: names, kinds, values, options.',
    most: 1,
    run: async ([file]) => fieldsOf(await open(file)),
  },
  fill: {
    usage: 'FILE --values VALUES.json [--flat] [--out FILE]',
    about: 'Fills a form. --flat makes the answers part of the pages.',
    options: { values: text, flat: flag, out: text },
    most: 1,
    run: ([file], options) => fillIn(file, options),
  },
  stamp: {
    usage: 'FILE WORDS [--pages 1,3-5] [--size 48] [--out FILE]',
    about: 'Writes words across pages, such as DRAFT.',
    options: { pages: text, out: text, size: text },
    least: 2,
    most: 2,
    run: ([file, said], options) => stamp(file, said, options),
  },
})
