// Where keys are letters, and mean nothing else.

const TYPED_IN = "input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable=true], [role=combobox]";
