import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { plotOf, pointsOf } from '../scripts/plot.ts'

const head = 'commit,database,figure,unit,value,goal'
const fileOf = (name: string) =>
  readFileSync(new URL(`../docs/figures/${name}`, import.meta.url), 'utf8')

describe('the plot of the figures', () => {
  it('is drawn from the table: run `node scripts/plot.ts`', () => {
    assert.equal(fileOf('figures.svg'), plotOf(pointsOf(fileOf('figures.csv'))))
  })

  it('has a panel for each figure and database, and a point for each commit from left to right', () => {
    const rows = ['aaaaaaa,SQLite,a turn,ms,4,≤2', 'bbbbbbb,SQLite,a turn,ms,1,≤2']
    const plot = plotOf(pointsOf([head, ...rows, 'bbbbbbb,Postgres,a turn,ms,3,≤2'].join('\n')))
    assert.equal(plot.match(/<g /g)?.length, 2)
    const [first, second] = [...plot.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)]
    assert.ok(Number(first?.[1]) < Number(second?.[1]), 'the later commit is further right')
    assert.ok(Number(first?.[2]) < Number(second?.[2]), 'the smaller value is lower')
    assert.match(plot, /1 ms, goal ≤2/)
  })

  for (const [what, row] of Object.entries({
    commit: 'today,SQLite,a turn,ms,4,≤2',
    database: 'aaaaaaa,Oracle,a turn,ms,4,≤2',
    value: 'aaaaaaa,SQLite,a turn,ms,fast,≤2',
    goal: 'aaaaaaa,SQLite,a turn,ms,4,2',
    columns: 'aaaaaaa,SQLite,a turn,ms,4,≤2,more',
  }))
    it(`refuses a row whose ${what} cannot be read, and names its line`, () =>
      assert.throws(() => pointsOf(`${head}\n${row}`), new RegExp(`^Error: line 2: ${what}`)))
})
