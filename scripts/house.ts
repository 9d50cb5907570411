/**
 * How the house stands: measures of the code against the budgets of scripts/house/budgets.json. Fails past one of them.
 *
 * `--list WORD` names the places of the measures whose name holds the word, `--json` prints all of it, and `--lower`
 * writes what is better by now as the new budgets.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Measure } from './house/measures.ts'
import { measureHouse } from './house/measures.ts'

/**
 * `most`: upper bound of the measure. `goal`: the value that the measure should reach, while it is above that value.
 */
type Budget = { most: number; goal?: number }

const mostShown = 12
const file = new URL('house/budgets.json', import.meta.url)
const { values } = parseArgs({
  options: { list: { type: 'string' }, json: { type: 'boolean' }, lower: { type: 'boolean' } },
})

const budgets = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Budget>
const measures = measureHouse()
const budgetOf = ({ name }: Measure): Budget => {
  const budget = budgets[name]
  if (!budget) throw new Error(`scripts/house/budgets.json has no budget for "${name}"`)
  return budget
}
const names = new Set(measures.map(({ name }) => name))
const unused = Object.keys(budgets).filter((name) => !names.has(name))
if (unused.length > 0)
  throw new Error(
    `scripts/house/budgets.json has budgets that nothing measures: ${unused.join(', ')}`,
  )

function table(): string {
  const rows = measures.map((measure) => {
    const { most, goal } = budgetOf(measure)
    return [measure.name, `${measure.is}`, `${most}`, goal === undefined ? '' : `${goal}`]
  })
  const all = [['measure', 'is', 'budget', 'goal'], ...rows]
  const width = Math.max(...all.map(([name = '']) => name.length))
  return all
    .map(([name = '', ...numbers]) =>
      [name.padEnd(width), ...numbers.map((number) => number.padStart(7))].join('').trimEnd(),
    )
    .join('\n')
}

const listed = ({ where }: Measure, most: number): string => {
  const more = where.length > most ? [`… and ${where.length - most} more`] : []
  return [...where.slice(0, most), ...more].map((line) => `  ${line}`).join('\n')
}

function report(): void {
  console.log(table())
  for (const measure of measures) {
    const { most } = budgetOf(measure)
    if (measure.is <= most) continue
    process.exitCode = 1
    const { name, is, mend } = measure
    console.error(`\n${name}: ${is} is more than the budget of ${most}.\nTo mend it, ${mend}.`)
    console.error(listed(measure, mostShown))
    console.error(`All of them: node scripts/house.ts --list '${name}'`)
  }
}

function lower(): void {
  const lowered = measures.map((measure): [string, Budget] => {
    const { most, goal } = budgetOf(measure)
    const next = Math.min(most, Math.max(measure.is, goal ?? most))
    return [
      measure.name,
      goal === undefined || next <= goal ? { most: next } : { most: next, goal },
    ]
  })
  const lines = lowered.map(([name, { most, goal }]) => {
    const aim = goal === undefined ? '' : `, "goal": ${goal}`
    return `  ${JSON.stringify(name)}: { "most": ${most}${aim} }`
  })
  writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`)
}

const word = values.list
if (values.lower) lower()
else if (values.json)
  console.log(JSON.stringify(measures.map((measure) => ({ ...measure, ...budgetOf(measure) }))))
else if (word === undefined) report()
else
  for (const measure of measures.filter(({ name }) => name.includes(word)))
    console.log(`${measure.name}: ${measure.is}\n${listed(measure, Infinity)}`)
