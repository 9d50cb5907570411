/** An editor of YAML. It lives in a shadow root: its styles are sheets of that root, which the policy of the page admits. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { Compartment, EditorState } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'

type CodeEditorProps = {
  label: string
  value: string
  onChange: (value: string) => void
  isReadOnly?: boolean
}

const look = EditorView.theme({
  '&': { height: '100%', color: 'var(--n10)', font: '12px/1.6 var(--mono)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { font: 'inherit', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--n11)', padding: '12px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--n11)' },
  '.cm-gutters': { background: 'transparent', border: 'none', color: 'var(--n8)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { background: 'var(--accent-quiet)' },
})

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.definition(tags.propertyName), color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: tags.content, color: 'var(--good)' },
  { tag: tags.comment, color: 'var(--n8)' },
])

/** The policy of the page: to type over a selection, a browser would write styles into the elements that it joins. */
const typeOverSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const isTyped = event.inputType === 'insertText' && event.data !== null && !event.isComposing
    if (!isTyped || view.state.selection.main.empty || view.state.readOnly) return false
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: 'input.type' })
    return true
  },
})

/** What is typed is told at once; a `value` from outside replaces the text only where it differs. */
export function CodeEditor({ label, value, onChange, isReadOnly = false }: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const tell = useRef(onChange)
  const readOnly = useRef(new Compartment())
  useEffect(() => {
    tell.current = onChange
  })
  useEffect(() => {
    const { current } = place
    if (!current) return undefined
    const root = current.shadowRoot ?? current.attachShadow({ mode: 'open' })
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          history(),
          indentOnInput(),
          typeOverSelection,
          yaml(),
          syntaxHighlighting(colours),
          look,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label }),
          readOnly.current.of(EditorState.readOnly.of(isReadOnly)),
          keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorView.updateListener.of((update) => {
            const isTyped = update.transactions.some(
              (each) =>
                each.isUserEvent('input') ||
                each.isUserEvent('delete') ||
                each.isUserEvent('undo') ||
                each.isUserEvent('redo') ||
                each.isUserEvent('move'),
            )
            if (update.docChanged && isTyped) tell.current(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = editor
    return () => editor.destroy()
    // The editor is made once; the effects below follow what changes.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [])
  useEffect(() => {
    const { current } = view
    const now = current?.state.doc.toString()
    if (current && now !== value)
      current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: value } })
  }, [value])
  useEffect(() => {
    const is = EditorState.readOnly.of(isReadOnly)
    view.current?.dispatch({ effects: readOnly.current.reconfigure(is) })
  }, [isReadOnly])
  return <div ref={place} className="cm-editor h-full min-h-0" />
}
