/** Where an agent's own tools work: a sandbox, or, for trials, the machine itself. */
export type WorkPlace = 'sandbox' | 'host'

const places: Record<WorkPlace, string> = {
  sandbox:
    'You work in a sandbox of your own. Your working directory is /workspace; what you write there stays for the ' +
    'session. Files for the user go to /mnt/session/outputs. The sandbox has no network.',
  host:
    'Your commands run on the machine that serves you, without isolation, and begin in a folder of this session, ' +
    'which your file tools call /workspace; what you write there stays for the session. Files for the user are ' +
    'written with the file tools to /mnt/session/outputs.',
}

/**
 * The whole system prompt. Deterministic: it opens every request, and prompt caches begin with it. `place` is given to
 * an agent whose tools need one.
 */
export function systemPrompt({
  agent,
  place,
}: {
  agent: string | null
  place: WorkPlace | undefined
}): string {
  return [agent ?? '', place ? places[place] : ''].filter((part) => part !== '').join('\n\n')
}
