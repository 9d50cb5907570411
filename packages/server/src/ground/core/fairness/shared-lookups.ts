/**
 * Runs at most one lookup per key. Callers that arrive during a lookup share the next one, so that no answer is older
 * than its caller.
 */
export function shareLookups<Answer>(
  ask: (about: string) => Promise<Answer>,
): (about: string) => Promise<Answer> {
  const underWay = new Map<string, { over: Promise<unknown>; next?: Promise<Answer> }>()

  function begin(about: string): Promise<Answer> {
    const asked = ask(about)
    const over = asked.then(
      () => end(),
      () => end(),
    )
    const question: { over: Promise<unknown>; next?: Promise<Answer> } = { over }
    function end(): void {
      if (!question.next) underWay.delete(about)
    }
    underWay.set(about, question)
    return asked
  }

  return (about) => {
    const question = underWay.get(about)
    if (!question) return begin(about)
    // oxlint-disable-next-line steward/no-kept-promise -- `begin` puts a new question in the place of this
    return (question.next ??= question.over.then(() => begin(about)))
  }
}
