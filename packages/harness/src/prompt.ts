/** The whole system prompt. Deterministic: it opens every request, and prompt caches begin with it. */
export function systemPrompt({
  agent,
  sandbox,
}: {
  agent: string | null
  sandbox: boolean
}): string {
  const place =
    'You work in a sandbox of your own. Your working directory is /workspace; what you write there stays for the ' +
    'session. Files for the user go to /mnt/session/outputs. The sandbox has no network.'
  return [agent ?? '', sandbox ? place : ''].filter((part) => part !== '').join('\n\n')
}
