/** Check runs of GitHub, which show the buttons of a question on a pull request. */
import { z } from 'zod'
import type { ExternalThread, Notes, ProviderCall, SearchResult, Telling } from '../integration.ts'
import { parsePayload } from '../deliveries/payload.ts'
import { questionNote } from '../answers/questions.ts'

type Confirmation = Extract<Telling, { kind: 'confirmation' }>
type CheckText = { repository: string; text: string }

/** The pull request, the call and the telling of a check run. GitHub returns this id when a button is pressed. */
export const externalIdForm = /^(\d{1,15})\/([\w-]{1,128})\/[\w.-]{1,512}$/

const externalIdOf = ({ call, id }: Confirmation, { target }: ExternalThread): string =>
  `${String(target['number'])}/${call}/${id}`

/** The name is unique for each call, because GitHub shows only the newest check run of each name. */
const checkNameOf = ({ name, call }: Confirmation): string =>
  `Allow ${name.slice(0, 64)} (${call.slice(-6)})`

/** GitHub's limits: 20 characters for an identifier, 40 for a description. */
const actions = [
  { label: 'Approve', description: 'Let the agent make this call.', identifier: 'approve' },
  { label: 'Deny', description: 'Refuse this call.', identifier: 'deny' },
]

const pullForm = z.object({ head: z.object({ sha: z.string().regex(/^[\da-f]{40,64}$/) }) })

/** A call that still lacks the headers of every call to GitHub. */
export type CheckCall = Omit<ProviderCall, 'headers'>

/** Asks for the newest commit of the pull request, because a check run belongs to a commit. */
export function buildHeadCall(thread: ExternalThread): CheckCall | null {
  const { repository, number, pull, head } = thread.target
  if (pull !== 1 || typeof head === 'string') return null
  const path = `/repos/${String(repository)}/pulls/${String(number)}`
  return { method: 'GET', path, body: null, isOptional: true }
}

export function targetWithHead({ target }: ExternalThread, body: string): Notes | undefined {
  const { data } = pullForm.safeParse(parsePayload(Buffer.from(body)))
  return data && { ...target, head: data.head.sha }
}

export function askByCheck(
  telling: Confirmation,
  thread: ExternalThread,
  { repository, text }: CheckText,
): CheckCall | null {
  const { head } = thread.target
  if (typeof head !== 'string' || thread.notes[questionNote(telling.call)]) return null
  const body = {
    name: checkNameOf(telling),
    head_sha: head,
    external_id: externalIdOf(telling, thread),
    // GitHub shows the buttons of a check run only when the run is completed.
    status: 'completed',
    conclusion: 'action_required',
    output: { title: 'The agent asks for an approval', summary: text },
    actions,
  }
  const path = `/repos/${repository}/check-runs`
  return { method: 'POST', path, body: JSON.stringify(body), isOptional: true }
}

/** Ends the check run of a call that has a result. Returns null when the call has no check run. */
export function endCheck(
  { call, isError }: { call: string; isError: boolean },
  { notes }: ExternalThread,
  repository: string,
): CheckCall | null {
  const id = notes[questionNote(call)]
  if (typeof id !== 'number') return null
  const title = isError ? 'The call was not made, or has failed' : 'The call was made'
  const body = JSON.stringify({
    status: 'completed',
    conclusion: isError ? 'neutral' : 'success',
    output: { title, summary: `${title}.` },
    actions: [],
  })
  return { method: 'PATCH', path: `/repos/${repository}/check-runs/${id}`, body, isOptional: true }
}

export function searchCheck(
  telling: Confirmation,
  { target }: ExternalThread,
  repository: string,
): CheckCall {
  const query = new URLSearchParams({ check_name: checkNameOf(telling), filter: 'all' })
  const path = `/repos/${repository}/commits/${String(target['head'])}/check-runs?${String(query)}`
  return { method: 'GET', path, body: null, isOptional: true }
}

const checkForm = z.object({ id: z.number().int().positive(), external_id: z.string().nullish() })
const checksForm = z.object({ check_runs: z.array(checkForm) })

export function foundCheck(
  telling: Confirmation,
  thread: ExternalThread,
  body: string,
): SearchResult {
  const { data } = checksForm.safeParse(parsePayload(Buffer.from(body)))
  if (!data) return { kind: 'unreadable' }
  const mark = externalIdOf(telling, thread)
  const check = data.check_runs.find(({ external_id }) => external_id === mark)
  return check
    ? { kind: 'found', notes: { ...thread.notes, [questionNote(telling.call)]: check.id } }
    : { kind: 'absent' }
}

export function notedCheck({ call }: Confirmation, { notes }: ExternalThread, body: string): Notes {
  const { data } = checkForm.safeParse(parsePayload(Buffer.from(body)))
  return data ? { ...notes, [questionNote(call)]: data.id } : notes
}
