// The page's texts in Japanese.

export default {
  // Links and the clipboard.
  "link.copy": "リンクをコピー",
  "link.copied": "リンクをコピーしました。棋譜と表示中の局面を含みます。",
  "link.cut": "リンクが途中で切れているか、書き換えられています。棋譜は開いていません。",
  "link.board": "このリンクの盤「{board}」は、このプログラムにはありません。",
  "link.refused": "このリンクは開けません: {why}",
  "copy.refused": "ブラウザーがコピーを許可していません。",

  // A new game, and a game that is played on.
  "new.title": "新規対局",
  "playon.button": "ここから対局",
  "playon.title": "この局面から対局",
};
