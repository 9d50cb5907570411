/** What was decided on this page, by call: the service keeps the first decision, which may be somebody else's. */
const decided = new Map<string, boolean>()

export function noteDecision(call: string, isAllowed: boolean): void {
  decided.set(call, isAllowed)
}

/** True where this page has decided the other way, and was too late. */
export const isOvertaken = (call: string, isAllowed: boolean): boolean =>
  decided.has(call) && decided.get(call) !== isAllowed
