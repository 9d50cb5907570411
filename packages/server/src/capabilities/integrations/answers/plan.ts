/** Reads the plan of an agent from a message: a task list in GitHub's Markdown. */

export type PlanStep = { content: string; isDone: boolean }

/** What an agent is told where people see its plan. */
export const planHint =
  'People see a task list in your messages (`- [ ] a step`, `- [x] a step that is done`) as your plan, and a newer list in its place.'

const mostSteps = 50
const mostCharacters = 500
const fence = /^\s*(`{3,}|~{3,})/
const task = /^\s*(?:[-*+]|\d{1,9}[.)])\s+\[([ xX])\]\s+(\S.*)$/

/** Returns undefined for fewer than two tasks. A task in a block of code does not count. */
export function parseTaskList(text: string): PlanStep[] | undefined {
  const steps: PlanStep[] = []
  let open: string | undefined
  for (const line of text.split(/\r?\n/)) {
    const [, mark] = fence.exec(line) ?? []
    if (mark !== undefined && (open === undefined || mark.startsWith(open)))
      open = open === undefined ? mark : undefined
    const [, box, content = ''] = (open === undefined && task.exec(line)) || []
    if (box === undefined || steps.length === mostSteps) continue
    const short = content.trim().slice(0, mostCharacters).toWellFormed()
    steps.push({ content: short, isDone: box !== ' ' })
  }
  return steps.length < 2 ? undefined : steps
}
