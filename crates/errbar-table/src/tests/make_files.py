"""Makes the spreadsheets and compressed tables in files/, by other programs than those that read them.

Run in this folder; needs openpyxl, odfpy and zstandard.
"""

import bz2
import datetime as dt
import lzma

import openpyxl
import zstandard
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import P

HOURS = [dt.datetime(2024, 1, 31, 21) + dt.timedelta(hours=step) for step in range(6)]
STATIONS = ["Berlin", "Zürich", "Berlin", "tab\there", 'say "hi"', "Zürich"]
ROWS = [
    (time, day.date(), station, 1.5 + step, 10 * step, step % 2 == 0)
    for step, (time, day, station) in enumerate(zip(HOURS, HOURS, STATIONS))
]
NAMES = ["time", "day", "station", "mu", "y", "wet"]


def excel(path, epoch=None):
    book = openpyxl.Workbook()
    if epoch is not None:
        book.epoch = epoch
    info = book.active
    info.title = "Info"
    info.append(["Station", "Berlin"])
    info.append(["Height", 34])
    sheet = book.create_sheet("Data")
    # A title over all columns, and nothing under it.
    sheet["B2"] = "Forecasts of January"
    sheet.merge_cells("B2:G2")
    for column, name in enumerate(NAMES):
        sheet.cell(4, 2 + column, name)
    for step, row in enumerate(ROWS):
        for column, value in enumerate(row):
            sheet.cell(5 + step, 2 + column, value)
    sheet["E6"] = "#N/A"
    sheet["F7"] = "#DIV/0!"
    sheet["F8"] = None
    sheet["E9"] = "7.25"
    more = book.create_sheet("More")
    more.append(["x", "mu", "y"])
    more.append([1, 0.1, 1e300])
    hidden = book.create_sheet("Old", 0)
    hidden.append(["x", "mu", "y"])
    hidden.append([9, 9, 9])
    hidden.sheet_state = "hidden"
    book.save(path)


def open_document(path):
    book = OpenDocumentSpreadsheet()
    sheet = Table(name="Data")

    def cell(value):
        if isinstance(value, bool):
            return TableCell(valuetype="boolean", booleanvalue=str(value).lower())
        if isinstance(value, (dt.date, dt.datetime)):
            return TableCell(valuetype="date", datevalue=value.isoformat())
        if isinstance(value, (int, float)):
            return TableCell(valuetype="float", value=value)
        made = TableCell(valuetype="string")
        made.addElement(P(text=value))
        return made

    for row in [NAMES, *ROWS]:
        made = TableRow()
        for value in row:
            made.addElement(cell(value))
        sheet.addElement(made)
    # As LibreOffice ends its sheets.
    last = TableRow(numberrowsrepeated=1048000)
    last.addElement(TableCell(numbercolumnsrepeated=16384))
    sheet.addElement(last)
    book.spreadsheet.addElement(sheet)
    book.save(path)


excel("files/forecasts.xlsx")
excel("files/mac.xlsx", openpyxl.utils.datetime.CALENDAR_MAC_1904)
open_document("files/forecasts.ods")

halves = [b"x,mu,y\n1,2.5,3\n4,", b"5,-6e2\n"]
for name, pack in {
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}.items():
    with open(f"files/table.csv.{name}", "wb") as file:
        # In two members, as cat makes them.
        file.writelines(pack(half) for half in halves)
