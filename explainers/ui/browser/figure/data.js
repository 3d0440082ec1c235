// What the server sends for a linked picture (ui/figure/linked_matrices.py); a test compares the names.

/** @import { Rgb } from "../common/colours.js" */
/** @import { PackedValues, Values } from "../common/numbers.js" */
/** @import { Translations } from "../common/words.js" */

/** @typedef {"row" | "column"} Axis */
/** @typedef {{ panel: string, row: number, column: number }} Cell  one number of a panel */
/** @typedef {{ panel: string, row: Axis | null, column: Axis | null }} Source  which row or column of a panel a number came from: the one that is numbered as its own row, or as its column */
/** @typedef {{ title: string, lines: string[], snippet: string }} Working  the arithmetic of a number */

/**
 * @typedef {object} FigureData
 * @property {PanelData[]} panels
 * @property {string} alt what is seen, in a sentence
 * @property {Translations} words
 * @property {Record<string, Rgb[]>} ramps colours of each kind of matrix
 * @property {Rgb} background
 * @property {string} highlight
 * @property {Cell | null} selected
 * @property {boolean} pickable
 * @property {string} stepper the panel whose cells are stepped through, or nothing
 * @property {SliderData | null} slider
 * @property {Working | null} working
 * @property {SliderData | null} view_slider
 * @property {Record<string, ViewData>} views what stands there at other steps of that slider
 * @property {string} template of the page's words below the panels, or nothing
 * @property {Record<string, string>[]} named what they name, for each frame or for all
 * @property {number} echo the last message that this answers
 */

/**
 * @typedef {object} ViewData
 * @property {(Partial<PanelData> & { id: string })[]} panels with what is other than in the picture's own
 * @property {Cell | null} selected
 * @property {Working | null} working
 * @property {string} template
 * @property {Record<string, string>[]} named
 */

/**
 * @typedef {object} SliderData
 * @property {string} label
 * @property {string[]} labels of each frame, or view
 * @property {number} index
 * @property {boolean} plays
 * @property {string} name sliders of one name move together
 * @property {boolean} hidden does its picture follow another one's slider?
 */

/**
 * @typedef {object} PanelData
 * @property {string} id
 * @property {string} name
 * @property {string} formula
 * @property {string} operator what stands before it
 * @property {string} heading begins a new line of the picture
 * @property {boolean} has_page is there more to read about it?
 * @property {boolean} flipped are its axes exchanged?
 * @property {boolean} small is it a miniature without digits?
 * @property {boolean} muted
 * @property {number | null} followed the query in a box
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {string} row_axis
 * @property {string} column_axis
 * @property {boolean} row_tokens is every row a token?
 * @property {boolean} column_tokens
 * @property {Values | PackedValues} values
 * @property {string} blank what is written where there is no number
 * @property {[number, number][]} ringed
 * @property {number} places
 * @property {(Values | PackedValues)[]} frames
 * @property {string} kind
 * @property {number} low
 * @property {number} high
 * @property {string} colour
 * @property {string[]} roles colours of queries and of keys, of series, or of lines
 * @property {boolean} image
 * @property {Source[]} sources
 * @property {Record<string, number[]>} pool rows that may be chosen, by their names
 * @property {string} pooled_by the list in which they are, as a link calls it; or nothing
 */

/** @typedef {Omit<PanelData, "values"> & { values: Values }} Matrix a panel whose numbers can be read */

export {};
