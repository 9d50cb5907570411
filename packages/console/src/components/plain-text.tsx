import { HiddenShown } from './hidden-shown.tsx'

/** A text of somebody: never markup, and what does not show in it is named. */
export const PlainText = ({ label, text }: { label: string; text: string }) => (
  <pre
    tabIndex={0}
    aria-label={label}
    dir="auto"
    className="min-w-0 rounded-panel border border-n4 bg-n2 px-3 py-2 font-mono text-small leading-[1.6] break-words whitespace-pre-wrap text-n11"
  >
    <HiddenShown text={text.replaceAll('\r\n', '\n')} />
  </pre>
)
