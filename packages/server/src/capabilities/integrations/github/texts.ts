/** Texts of agents on GitHub. */

/** A mark of this service in a text at GitHub, which people do not see. */
export const ownMark = /<!-- steward:[^>]*-->/g

/** The words of GitHub that link an issue to a pull request, with its number. */
export const closing = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\s+#(\d{1,10})\b/gi

/**
 * Attack: a mention in an agent's text would call a person, or the agent itself. GitHub looks for mentions after it has
 * decoded entities.
 */
export const quiet = (text: string): string =>
  text
    .replaceAll('@', '@\u200b')
    .replaceAll(/&(?=#0*64(?!\d)|#x0*40(?![\da-f])|commat;)/gi, '&amp;')
