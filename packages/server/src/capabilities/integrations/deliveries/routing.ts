/** Which of several agents a message is for: people name one by a word behind the mention. */
import type { Database } from '../../../ground/database/database.ts'
import type { Incoming, IncomingMessage } from '../integration.ts'
import { integrationStore } from '../store.ts'
import type { PublicationRow } from '../store.ts'
import { sameName } from './listed-names.ts'

/** A delivery as one publication reads it. */
export type ReadDelivery = { publication: PublicationRow; incoming: Incoming }

type Candidate = { publication: PublicationRow; incoming: IncomingMessage }

const isCandidate = (read: ReadDelivery): read is Candidate =>
  read.incoming.kind === 'message' && read.incoming.named !== undefined

const nameOf = ({ publication: { spec } }: Candidate): string | null => spec.name ?? null

const notFor: Incoming = { kind: 'ignored', reason: 'unrelated', field: 'another agent is named' }

const wordOf = ({ incoming: { named } }: Candidate): string | undefined => named?.word ?? undefined

/**
 * The agent whose name stands behind the mention hears a message, else the one that has the thread, else the one without
 * a name. Labels and requested reviews name their agents themselves.
 */
export async function routeByName(
  db: Database,
  read: readonly ReadDelivery[],
): Promise<ReadDelivery[]> {
  const candidates = read.filter(isCandidate)
  const [first] = candidates
  if (!first) return [...read]
  const chosen = await chosenOf(db, candidates)
  return read.map((each) => {
    const found = candidates.find((other) => other === each)
    if (!found) return each
    if (chosen.includes(found)) return withoutName(found)
    return chosen.length > 0
      ? { ...each, incoming: notFor }
      : { ...each, incoming: whichOf(candidates) }
  })
}

async function chosenOf(db: Database, candidates: readonly Candidate[]): Promise<Candidate[]> {
  const byName = candidates.filter((each) => {
    const [name, word] = [nameOf(each), wordOf(each)]
    return name !== null && word !== undefined && sameName(name, word)
  })
  if (byName.length > 0) return byName
  if (candidates.length === 1) return [...candidates]
  const owners: Candidate[] = []
  for (const each of candidates) {
    const { tenant_id, id } = each.publication
    const { scope } = each.incoming
    const thread = await integrationStore(db.read).threadOfScope(tenant_id, id, scope)
    if (thread?.session_id) owners.push(each)
  }
  return owners.length === 1 ? owners : candidates.filter((each) => nameOf(each) === null)
}

/** The request without the name of its agent. */
function withoutName(candidate: Candidate): ReadDelivery {
  const { publication, incoming } = candidate
  const { named, ...message } = incoming
  const name = nameOf(candidate)
  const isNamed = name !== null && named?.word && sameName(name, named.word)
  return { publication, incoming: isNamed ? { ...message, text: named.text } : message }
}

/** Nobody is named, and no agent hears mentions without a name. */
function whichOf(candidates: readonly Candidate[]): Incoming {
  const names = candidates.flatMap((each) => nameOf(each) ?? []).join(', ')
  const [first] = candidates
  const message = `Several agents work here. Put the word for one behind the mention: ${names}.`
  return {
    kind: 'ignored',
    reason: 'unnamed',
    field: names,
    ...(first && {
      refusal: {
        scope: first.incoming.scope,
        author: first.incoming.author,
        target: first.incoming.target,
        message,
      },
    }),
  }
}

const mention = /(?:<@([\w.-]+)(?:\|[^<>]*)?>|(?<![\w@./-])@([\w-]+(?:\[bot\])?))[\s,:]*/g

/** Where the text goes on behind the mention of the app, else behind its first mention, else at its beginning. */
function behindMention(text: string, own: readonly string[]): number {
  const all = [...text.matchAll(mention)]
  const isOwn = ([, id = '', login = '']: RegExpExecArray) =>
    own.some((each) => sameName(each, id) || sameName(each, login))
  const found = all.find(isOwn) ?? all[0]
  return found ? found.index + found[0].length : 0
}

/**
 * The word behind a mention, or the first word of a text without one, and the text without that word. Whether the word
 * is the name of an agent shows later. `own`: what mentions call the app.
 */
export function namedIn(
  text: string,
  own: readonly string[] = [],
): NonNullable<IncomingMessage['named']> {
  const start = behindMention(text, own)
  const [word] = /^[A-Za-z0-9][\w-]{0,63}(?![\w-])/.exec(text.slice(start)) ?? []
  if (word === undefined) return { word: null, text }
  const rest = text.slice(start + word.length).replace(/^[ \t]*[,:]?[ \t]*/, '')
  return { word, text: `${text.slice(0, start)}${rest}` }
}
